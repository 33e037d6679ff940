"""Makes what goes inline: views and summaries, by pure functions over lines and bytes."""
