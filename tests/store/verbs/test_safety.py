"""Destructive commands wait for a confirmation, however they are run; what only mentions them does not."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from sightline.base.errors import SettingError
from sightline.shell_words.commands import Script
from sightline.verbs.command_forms import read_kinds
from sightline.verbs.safety import ALL, known_text, reason_to_confirm
from tests.each import each

DESTRUCTIVE = {
    "rm -rf": [
        "rm -rf build",
        "rm -fr build",
        "rm -r build",
        "rm build -rf",
        "rm --recursive --force build",
        "/bin/rm -rf build",
        "\\rm -rf build",
        "'rm' -rf build",
        '"rm" -rf build',
        "r\\m -rf build",
        "$'r\\x6d' -rf build",
        "cd x && rm -rf y",
        "cd x; rm -rf y",
        "FORCE=1 rm -rf x",
        "if true; then rm -rf x; fi",
        "! rm -rf x",
        "while true; do rm -rf x; done",
        "case x in a) rm -rf y;; esac",
        "f() { rm -rf x; }; f",
        "(rm -rf x)",
        "{ rm -rf x; } | cat",
        "true\nrm -rf x",
        "rm -rf x 2>/dev/null || true",
        ">log rm -rf x",
        "rm --recurs x",
        "rm${IFS}-rf${IFS}x",
        "{rm,-rf,x}",
        "git rm -rf x",
        "hdfs dfs -rm -r -skipTrash /x",
        "hadoop fs -rm -r /x",
        "rmdir /s /q x",
        "pwsh -c x; Remove-Item -Recurse x",
        "npx --yes rimraf dist",
        "lerna exec -- rm -rf dist",
        "echo unfinished ' ; rm -rf x",
        "cat <<E\nwithout an end\nrm -rf x",
    ],
    "git push --force": [
        "git push --force",
        "git push -f origin main",
        "git push -fu origin main",
        "git push origin +main",
        "git push --force-with-lease",
        "git push --force-with-lease=main:abc",
        "git -C folder push --force",
        "git -c a.b=c push -f",
    ],
    "git push --delete": [
        "git push --delete origin x",
        "git push origin -d x",
        "git push origin :x",
        "git push --mirror",
    ],
    "git reset --hard": ["git reset --hard", "git reset --hard HEAD~1", "git fetch && git reset --hard origin/main"],
    "git clean -f": ["git clean -fdx", "git clean -d -f", "git clean --force"],
    "git branch -D": ["git branch -D x", "git branch --delete --force x", "git branch -d -f x"],
    "git checkout -- .": [
        "git checkout -- .",
        "git checkout .",
        "git checkout HEAD -- .",
        "git restore .",
        "git restore -W -S x",
        "git restore x/",
    ],
    "git checkout -f": [
        "git checkout -f",
        "git checkout --force main",
        "git switch -f main",
        "git switch --discard-changes x",
    ],
    "rm *": [
        "rm *",
        "rm .*",
        "rm !(*.py)",
        "rm `find . -name x`",
        "rm $(ls -t | tail -3)",
        "rm -f ./*",
        "find . -name x -exec rm {} +",
        "find . | xargs rm -f",
        "ls | xargs -I % rm %",
    ],
    "git stash clear": ["git stash clear", "git stash drop", "git stash drop stash@{2}"],
    "git filter-branch": [
        "git filter-branch -f --tree-filter 'true' HEAD",
        "git update-ref -d refs/heads/x",
        "git reflog expire --expire=now --all",
        "git tag -d v1",
        "git gc --prune=now",
    ],
    "> /dev/sda": [
        "cat x > /dev/sda",
        "echo x | sudo tee /dev/nvme0n1",
        "cp image /dev/sdb",
        "echo b > /proc/sysrq-trigger",
    ],
    "mv FILE /dev/null": ["mv notes /dev/null", "cp /dev/null notes", "ln -sf /dev/null notes"],
    "db:drop": [
        "rails db:drop",
        "RAILS_ENV=test bundle exec rake db:reset",
        "python manage.py flush",
        "./manage.py flush --no-input",
        "php artisan migrate:fresh",
        "npx prisma migrate reset",
        "alembic downgrade base",
    ],
    "dropDatabase": [
        "mongosh shop --eval 'db.dropDatabase()'",
        "mongo <<< 'db.users.drop()'",
        "mongosh --eval 'db.users.deleteMany({})'",
    ],
    "chown -R /": [
        "chown -R me /",
        "sudo chown --recursive me:me /usr",
        "chmod -R 000 .",
        "chmod 000 x",
        "chmod -R 700 /etc",
    ],
    "fdisk": [
        "fdisk /dev/sda",
        "parted /dev/sda rm 1",
        "wipefs -a /dev/sdb",
        "sgdisk --zap-all /dev/sda",
        "zfs destroy a/b",
    ],
    "rsync --delete": [
        "rsync -a --delete a/ b/",
        "rsync -a --delete-after a/ b/",
        "rclone sync a b:",
        "restic forget x",
    ],
    "cloud delete": [
        "aws ec2 terminate-instances --instance-ids i-1",
        "aws --profile p rds delete-db-instance --db-instance-identifier x",
        "gcloud --project p compute instances delete x --zone y",
        "gcloud storage buckets delete gs://b",
        "az group delete -n x",
        "heroku apps:destroy x",
        "fly apps destroy x",
        "doctl k c d x",
        "doctl auth remove --context x",
    ],
    "curl -X DELETE": [
        "curl -X DELETE https://example.org/api/x",
        "curl -sXDELETE localhost:9200/_all",
        "curl --request=DELETE localhost:9200/x",
        "http DELETE example.org/api/x",
    ],
    "gh repo delete": ["gh repo delete o/r --yes", "gh api -X DELETE /repos/o/r", "gh -R o/r release delete v1"],
    "npm unpublish": ["npm unpublish p@1", "cargo yank p", "npm --prefix x owner rm a p"],
    "crontab -r": ["crontab -r", "crontab -u x -r", "crontab /dev/null"],
    "userdel": ["userdel -r bob", "gpg --delete-secret-keys x"],
    "systemctl stop": [
        "systemctl stop nginx",
        "systemctl --user disable x",
        "service nginx stop",
        "reboot",
        "sudo shutdown -h now",
        "init 0",
        "tool node shutdown x",
        "ifdown --all",
    ],
    "apt purge": [
        "apt-get -y purge nginx",
        "sudo dnf remove nginx",
        "brew uninstall x",
        "apk del x",
        "conda env remove -n x",
    ],
    "iptables -F": ["iptables -F", "ufw disable", "ip link set eth0 down"],
    "fork bomb": [":(){ :|:& };:", "bomb() { bomb | bomb & }; bomb"],
    "rmtree": [
        "python -c \"import shutil; shutil.rmtree('x')\"",
        "python3.12 -c 'import os; os.unlink(\"x\")'",
        "python - <<'EOF'\nimport shutil\nshutil.rmtree('x')\nEOF",
        "perl -e 'unlink glob \"*\"'",
        "ruby -e 'FileUtils.rm_rf \"x\"'",
        "node -e 'fs.rmSync(\"x\")'",
        "python -c 'import os; os.system(\"rm -rf x\")'",
        "python -c 'import os; os.remove(\"x\")'",
        'node -e \'require("child_process").execSync("rm -rf x")\'',
        "rails runner 'User.destroy_all'",
        "ruby -e 'File.delete(\"x\")'",
        "powershell -c 'Remove-Item -Recurse -Force x'",
    ],
    "history -c": ["history -c"],
    "delete": [
        "eksctl delete cluster x",
        "exo compute sks nodepool delete x",
        "tool --region=x volume delete y",
        "tool --region x volume delete y",
        "lando destroy",
        "tool sites:delete x",
        "vault policy delete x",
        "tool delete-user x",
        "tool --delete-vm x",
        "tool delete",
        "init_db --drop",
        "tool --force delete x",
        "tool --action delete x",
        "tool records-delete x",
        "tool platform delete x -n y",
        "pkg_delete x",
        "steamos-factory-reset",
    ],
    "volume rm": [
        "tool volume rm x",
        "tool history clear",
        "tool database flush x",
        "keepassxc-cli rm file entry",
        "calibredb remove 1",
        "repo-remove file x",
        "fclones group . | fclones remove",
        "mc admin accesskey rm x y",
        "heroku domains:clear",
        "tool cluster node evict x",
        "tool object user d x",
        "tool --remove x",
        "addcomputer.py -delete -computer-name x",
    ],
    "rm /etc/FILE": ["rm /etc/passwd", "rm -f .git/index", "ssh host 'sudo rm /etc/passwd'"],
    "DROP TABLE": [
        "psql -c 'DROP TABLE users'",
        "psql --command='drop table users'",
        "echo 'drop database x' | mysql",
        "sqlite3 a.db 'drop table t;'",
        "psql <<EOF\nDROP TABLE t;\nEOF",
        "mysql shop <<< 'drop schema x'",
        "cat <<'EOF' | grep -v '^--' | psql\nDROP TABLE t;\nEOF",
        "docker compose exec db psql -c 'DROP TABLE t'",
        "python -c \"db.execute('DROP TABLE t')\"",
        "./manage.py dbshell <<< 'DROP TABLE t'",
        "psql -c 'TRUNCATE TABLE users'",
        "mysql -e 'truncate users'",
        "psql -c 'delete from users'",
        "sqlite3 a.db 'delete from t; select 1 where 1'",
        "psql -c 'update users set admin = true'",
        "psql -c 'alter table users drop column mail'",
        "python -c 'db.execute(\"DELETE FROM t\")'",
    ],
    "dropdb": ["dropdb shop", "mysqladmin -u root drop shop", "su - postgres -c 'dropdb shop'"],
    "redis-cli flushall": ["redis-cli flushall", "redis-cli -n 1 FLUSHDB", "echo flushall | redis-cli"],
    "chmod 777": ["chmod 777 x", "chmod -R 0777 x", "chmod a+rwx x", "chmod ugo+rwx x", "chmod u=rwx,o+w x"],
    "kill -9": [
        "kill -9 1",
        "kill -KILL 1",
        "kill -SIGKILL 1",
        "kill -s KILL 1",
        "kill -s 9 1",
        "kill -n 9 1",
        "pkill -9 x",
        "pkill --signal KILL x",
        "pkill --signal=9 x",
        "killall -q -9 x",
    ],
    "find -delete": ["find . -name '*.o' -delete"],
    "shred": ["shred -u key"],
    "truncate -s 0": [
        "truncate -s0 x",
        "truncate -s 0 x",
        "truncate --size=0 x",
        "truncate --size 0 x",
        "truncate -cs0 x",
        "truncate -s -2G x",
    ],
    "mkfs": ["mkfs.ext4 /dev/sda", "/sbin/mkfs /dev/sda"],
    "dd of=": ["dd if=/dev/zero of=/dev/sda", "sudo dd of=/dev/sda if=x"],
    "terraform destroy": [
        "terraform destroy",
        "terraform -chdir=x destroy",
        "terraform apply -destroy",
        "tofu destroy",
        "terraform apply -auto-approve",
        "terraform state rm x",
        "pulumi stack rm x",
    ],
    "kubectl delete": [
        "helm -n x uninstall y",
        "kubectl drain n",
        "kubectl delete pod x",
        "kubectl -n prod delete ns x",
    ],
    "docker system prune": [
        "docker system prune -af",
        "docker volume prune",
        "docker volume rm x",
        "docker rm $(docker ps -qa)",
        "podman rmi -a",
        "docker compose -f x.yml down -v",
    ],
    "aws s3 rm --recursive": [
        "aws s3 rm s3://b --recursive",
        "aws --profile p s3 rm --recursive s3://b",
        "gsutil -m rm -r gs://b",
    ],
}
RUN = [
    "sudo {}",
    "sudo -u root -- {}",
    "sudo -E env A=1 {}",
    "env -i A=1 {}",
    "env -S '{}'",
    "timeout 5 {}",
    "timeout -k 1 5s {}",
    "nice {}",
    "nice -n 5 {}",
    "nohup nice -n 5 sudo {} &",
    "time {}",
    "command {}",
    "flock /tmp/lock {}",
    "busybox {}",
    "ls | xargs {}",
    "ls | xargs -n 1 -I % {}",
    "find . -name x -exec {} +",
    "find . -exec timeout 5 {} \\;",
    "find . -exec sh -c '{} $1' _ % \\;",
    "eval {}",
    "eval '{}'",
    "sh -c '{}'",
    "bash -lc 'cd x; {}'",
    "bash -euo pipefail -c '{}'",
    "bash -c \"sh -c '{}'\"",
    "ssh host {}",
    "ssh -p 22 me@host 'cd x; {}'",
    "ssh me@host -- {}",
    "gosu app {}",
    "systemd-run --scope -p CPUQuota=5 {}",
    "ssh host <<'EOF'\n{}\nEOF",
    "bash <<EOF\n{}\nEOF",
    "sudo bash -s <<'EOF'\nset -e\n{}\nEOF",
    "bash <<< '{}'",
    "echo '{}' | sh",
    "printf '%s\\n' '{}' | sudo bash",
    "cat <<'EOF' | bash\n{}\nEOF",
    "(cd x && echo '{}') | sh",
    "docker exec -it box {}",
    "kubectl exec pod -- {}",
    "su -c '{}'",
    "trap '{}' EXIT",
    "watch -n 1 '{}'",
    "echo $({})",
    'echo "$({})"',
    "echo `{}`",
    "diff <({}) y",
    "echo \"$(sh -c '{}')\"",
    "cat <<EOF > notes\n$({})\nEOF",
    "echo $(case x in a) {};; esac)",
]
MENTION = [
    "{} --help",
    "echo {}",
    "echo '{}'",
    'printf "{}" > notes',
    "grep -rn '{}' . | head",
    "rg '{}' docs",
    "git log -S'{}'",
    "git log --grep='{}'",
    "git commit -m 'fix; {} is gone'",
    "git commit -m \"$(cat <<'EOF'\nno more {}\n\nit's better; {}\nEOF\n)\"",
    "gh pr create --body 'no more {}'",
    "cat > notes.md <<EOF\n{}\nEOF",
    "cat <<'EOF' > run.sh\ncd x && {}\nEOF",
    "cat > Dockerfile <<EOF\nRUN make && \\\n    {}\nEOF",
    "tee notes.sql <<EOF\n{}\nEOF",
    "echo '{}' | tee notes",
    "echo '{}' | grep x",
    "man rm # {}",
    "sed -i 's/{}/x/' notes",
    "sudo grep '{}' log",
    "find . -exec grep '{}' % +",
    "python tool.py '{}'",
    "test -f x || echo '{}'",
]
HARMLESS = [
    "make > out.txt",
    "(make; make test) > out.txt",
    "for i in 1 2; do echo $i; done > out.txt",
    "cp a b > /dev/null",
    "cp a /dev/stdout",
    "rm -f a.o b.o",
    "npm uninstall x",
    "npm run delete",
    "docker compose down",
    "docker image ls -f dangling=true",
    "docker stop x",
    "kubectl rollout restart deployment x",
    "kubectl scale deployment x --replicas=3",
    "helm list",
    "terraform apply",
    "rsync -a a/ b/",
    "rsync -an --delete a/ b/",
    "systemctl status nginx",
    "systemctl restart nginx",
    "crontab -l",
    "fdisk -l",
    "parted /dev/sda print",
    "wipefs /dev/sda",
    "gh repo view o/r",
    "gh pr list --search delete",
    "gcloud compute instances list",
    "aws ec2 describe-instances",
    "git tag v1",
    "git stash list",
    "git reflog",
    "git worktree remove x",
    "git branch -m old new",
    "git rebase --abort",
    "psql -c 'delete from users where id = 1'",
    "psql -c 'update users set x = 1 where id = 1'",
    "git commit -m 'delete from users; truncate table x'",
    "python manage.py migrate",
    "python - <<'EOF'\nimport os\nos.unlink('x')\nEOF",
    "python -c 'print(1)'",
    "mongosh --eval 'db.users.deleteMany({old: true})'",
    "chown -R me:me /home/me/project",
    "chmod -R u+w build",
    "echo ':(){ :|:& };:'",
    "f() { g | h & }; f",
    "pip uninstall -y x",
    "apt-get install x",
    "history | tail",
    "rm file.txt",
    "rm -f file.txt",
    "rm -i x",
    "rm -- -r",
    "rm a.txt; ls -lr",
    "rm a.txt && grep -r foo .",
    "rm a | sort -r",
    "rmdir x",
    "farm -rf x",
    "ls -R",
    "npm run format",
    "cargo rm --dev x",
    "docker run --rm -it x",
    "docker exec x ls -r",
    "git rm -r --cached x",
    "git rm x",
    "git restore --staged x/",
    "command -v rm",
    "command -V mkfs",
    "python -c 'names.remove(1); delete(2)'",
    "curl -X POST -d DELETE https://example.org",
    "brew install x",
    "ip link set eth0 up",
    "script -c 'ls -r' log",
    "tmux new-session -d 'git rm x'",
    "git submodule foreach 'git status'",
    'git commit -m "say (rm -rf) less; git push --force never"',
    "git push",
    "git push -u origin feature-f",
    "git push --follow-tags",
    "git push --dry-run --force",
    "git push origin main:main",
    "git clean -n",
    "git clean -nfd",
    "git clean --dry-run",
    "git reset --soft HEAD~1",
    "git reset",
    "git branch -d x",
    "git branch --delete x",
    "git checkout main",
    "git checkout -b x",
    "git checkout -- file.txt",
    "git restore --staged .",
    "git stash pop",
    "git switch main",
    "git add .",
    "git diff -- .",
    "git log --oneline -- .",
    "grep -ri 'drop table' migrations/",
    "rg 'DROP TABLE|DROP DATABASE' schema.sql",
    "rg -e 'DROP TABLE' schema.sql",
    "cat droptable.sql",
    "alembic revision -m 'drop table x'",
    "psql -c 'select 1'",
    "redis-cli get flush",
    "chmod 755 x",
    "chmod 7770 x",
    "chmod +x y",
    "chmod go-w x",
    "kill 1",
    "kill -15 1",
    "kill -99 1",
    "kill -l 9",
    "kill -TERM -9",
    "man mkfs",
    "type shred",
    "dd --help",
    "dd if=x of=/dev/null",
    "add of=x",
    "find . -name delete",
    "truncate -s 10M x",
    "terraform plan -destroy",
    "dd if=/dev/sda of=backup.img",
    "python -c \"print('rm -rf')\"",
    "python -c \"print('rmtree')\"",
    "pytest -k delete tests",
    "tool help delete x",
    "tool volume delete -h",
    "tool cache clear",
    "tool completion uninstall",
    "tool create remove-x",
    "tool remove-x.ts",
    "tool d x",
    "tool a b d",
    "od -A n -t d -N 1 x",
    "while read d; do ls; done",
    "names=(a b c d)",
    "docker rm x",
    "uv remove x",
    "postfix flush",
    "docker image rm x",
    "php artisan config:clear",
    "dd if=x of=/dev/shm/new-file",
    "systemctl reset-failed",
    "tool --remove-bom x",
    "tool volume delete x --dry-run",
    "echo delete x",
    "tr --delete a",
    "npm uninstall x",
    "reboot -w",
    "rm -f .git/index.lock",
    "truncate -s +1G x",
    "kubectl get delete",
    "kubectl delete pod x --dry-run=client",
    "docker ps",
    "aws s3 rm s3://b/x",
    "aws s3 rm --recursive --dryrun s3://b",
    "bash script.sh -rf",
    "bash -n script.sh",
    "ssh host ls -r",
    "echo $((1 << 2)); rm x",
]


@each(("kind", "command"), [(kind, one) for kind, many in DESTRUCTIVE.items() for one in many])
def test_destructive_command_waits(kind: str, command: str) -> None:
    assert reason_to_confirm(command).startswith(f"{kind}: ")


@each("destructive", ["rm -rf x", "git push -f", "mkfs /dev/sda", "dropdb x"])
@each("run", RUN)
def test_it_waits_however_it_is_run(run: str, destructive: str) -> None:
    assert reason_to_confirm(run.replace("{}", destructive))
    assert not reason_to_confirm(run.replace("{}", "ls -l"))


@each("destructive", ["rm -rf x", "git push --force", "DROP TABLE x", "kill -9 1", "mkfs"])
@each("mention", MENTION)
def test_what_only_mentions_it_does_not_wait(mention: str, destructive: str) -> None:
    assert reason_to_confirm(mention.replace("{}", destructive)) == ""


@pytest.mark.parametrize(
    "command",
    [": > {}", "> {}", "true >| {}", "cat /dev/null > {}", "printf '' > {}", "cd .; > {}", "echo > {}", 'echo "" > {}'],
)
def test_a_file_that_holds_something_is_not_emptied_unasked(command: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("held")
    (tmp_path / "empty").touch()
    assert reason_to_confirm(command.replace("{}", "log"), folder=str(tmp_path)).startswith("> FILE: ")
    assert reason_to_confirm(command.replace("{}", f"{tmp_path}/log")).startswith("> FILE: ")
    assert reason_to_confirm(command.replace("{}", "empty"), folder=str(tmp_path)) == ""
    assert reason_to_confirm(command.replace("{}", "new"), folder=str(tmp_path)) == ""
    assert reason_to_confirm(command.replace("{}", "/dev/null"), folder=str(tmp_path)) == ""


def test_the_output_of_a_command_may_replace_a_file(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("held")
    for command in ("echo x > log", "make > log", "(make) > log", ": >> log", "> log make", "make 2> log"):
        assert reason_to_confirm(command, folder=str(tmp_path)) == "", command


@pytest.mark.parametrize("packed", [False, True])
def test_a_branch_is_not_replaced_unasked(tmp_path: Path, packed: bool) -> None:
    git = partial(subprocess.run, cwd=tmp_path, check=True, capture_output=True)
    git(["git", "init", "-b", "main"])
    git(["git", "-c", "user.name=x", "-c", "user.email=x@y.example", "commit", "--allow-empty", "-m", "x"])
    git(["git", "branch", "other"])
    if packed:
        git(["git", "pack-refs", "--all"])
    (tmp_path / "folder").mkdir()
    for command in ("git branch -M other", "git branch -M main other", "git checkout -B other", "git switch -C other"):
        assert reason_to_confirm(command, folder=str(tmp_path)).startswith("git branch -D: "), command
        assert reason_to_confirm(f"cd folder && {command}", folder=str(tmp_path)), command
        assert reason_to_confirm(command.replace("git", f"git -C {tmp_path}"), folder="/"), command
        assert reason_to_confirm(command.replace("other", "new"), folder=str(tmp_path)) == "", command
    assert reason_to_confirm("git branch -M main", folder=str(tmp_path)) == "", "it is checked out"


@each("command", HARMLESS)
def test_harmless_command_does_not_wait(command: str) -> None:
    assert reason_to_confirm(command) == ""


def test_every_kind_has_its_commands_here() -> None:
    assert {kind.name for kind in read_kinds(known_text()).kinds} == {*DESTRUCTIVE, "> FILE"}


def test_the_settings_add_to_the_known_kinds() -> None:
    assert "settings" in reason_to_confirm("make deploy", confirm=("deploy$",))
    assert reason_to_confirm("rm -rf x", confirm=("deploy$", "mkfs"))
    assert reason_to_confirm("make", confirm=("deploy$",)) == ""


def test_the_settings_take_from_the_known_kinds() -> None:
    assert reason_to_confirm("rm -rf x", confirm_not=("rm -rf",)) == ""
    assert reason_to_confirm("mkfs /dev/sda", confirm_not=("rm -rf",))
    assert reason_to_confirm("mkfs /dev/sda", confirm_not=(ALL,)) == ""
    assert "settings" in reason_to_confirm("make deploy", confirm=("deploy$",), confirm_not=(ALL,))


def test_a_name_of_no_kind_is_an_error_that_names_the_kinds() -> None:
    with pytest.raises(SettingError) as caught:
        reason_to_confirm("ls", confirm_not=("rm",))
    assert "rm -rf" in caught.value.hint


def test_own_kind_that_is_no_regular_expression_is_an_error() -> None:
    with pytest.raises(SettingError, match="regular expression"):
        reason_to_confirm("ls", confirm=("(",))


def _steps(work: Callable[[], object]) -> int:
    """How many lines of Python are run."""
    steps = 0

    def trace(_frame: object, event: str, _argument: object) -> object:
        nonlocal steps
        steps += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return steps


PARTS = [
    *(
        "'a' ",
        "true form ",
        "sudo ",
        "a=1 ",
        "git -a b ",
        "; ",
        "rm -f ",
        "drop ",
        "if ",
        "/x",
        "xargs ",
        "find -exec ",
    ),
    *("'", '"', "\\", "`", "(", "((", "((()) ", "${", "$(", '"$(', "$'", "eval ", "$(eval ", "<(", "{ "),
    *("<<E ", "<<E\n", "x\\\n", "$[", "case ", "sh -c ", "bash -c 'rm ", "echo | sh | ", "docker exec x ", "trap "),
]


@each("around", ["{}", "cat <<EOF\n{}\nEOF", "echo '{}", 'sh -c "{}"', "eval eval eval {}"])
@each("part", PARTS)
def test_judging_takes_as_many_steps_as_the_command_is_long(part: str, around: str) -> None:
    few, many = (
        _steps(lambda times=times: reason_to_confirm("rm x; " + around.replace("{}", part * times)))
        for times in (50, 400)
    )
    assert many < 8 * 1.6 * few + 1000


def test_commands_within_commands_are_not_joined_again_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    joined = Script.text.fget
    assert joined is not None
    monkeypatch.setattr(Script, "text", property(lambda script: asked.append(1) or joined(script)))
    assert reason_to_confirm("eval " * 500 + "rm -rf x")
    assert 0 < len(asked) < 50
