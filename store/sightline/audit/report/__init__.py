"""Reports of a session, or of a store: gathered once, written as HTML, Markdown or JSON."""
