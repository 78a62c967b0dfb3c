"""Owner's page of an open study: facts of the store, login, decisions about people and items."""
