"""How fitted judges were made; nothing here is needed to run one."""
