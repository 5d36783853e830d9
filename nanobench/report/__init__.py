"""Reports: what bundles say, added up and shown to people and to other programs. Nothing is judged here."""
