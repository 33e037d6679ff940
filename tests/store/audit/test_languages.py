"""The language of a message is guessed from its letters and frequent words."""

import pytest

from sightline.audit.evidence.languages import language_of, unread_among
from sightline.log.session_events import AgentMessage


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I have fixed the parser, and all tests pass now.", "English"),
        ("Ich habe den Parser repariert, und alle Tests laufen jetzt durch.", "German"),
        ("J'ai corrigé le parseur, et tous les tests passent maintenant.", "French"),
        ("He corregido el analizador y todas las pruebas pasan ahora.", "Spanish"),
        ("Corrigi o parser e todos os testes passam agora, não há erros.", "Portuguese"),
        ("Ho corretto il parser e tutti i test sono verdi, non ci sono errori.", "Italian"),
        ("Ik heb de parser hersteld en alle tests zijn nu groen.", "Dutch"),
        ("Я исправил парсер, все тесты проходят.", "Russian"),
        ("パーサーを修正し、すべてのテストが通りました。", "Japanese"),
        ("我修复了解析器,所有测试都通过了。", "Chinese"),
        ("파서를 고쳤고 모든 테스트가 통과했습니다.", "Korean"),
        ("`list` lists a file, `get` gets a file, `create` creates a file: a plain set of commands.", "English"),
        ("OK", ""),
        ("`le la les des est`", ""),
        ("```\nle la les des est une\n```", ""),
    ],
)
def test_a_message_s_language_is_guessed(text: str, language: str) -> None:
    assert language_of(text) == language


def test_messages_in_languages_with_rules_and_short_ones_are_read() -> None:
    texts = ("All tests pass, and the build is green.", "Alle Tests sind jetzt grün.", "测试通过。", "OK")
    assert unread_among([AgentMessage(1.0, text) for text in texts]).words == ""


def test_a_blanked_message_is_not_read() -> None:
    assert unread_among([AgentMessage(1.0, None)]).languages == (("blanked", 1),)
