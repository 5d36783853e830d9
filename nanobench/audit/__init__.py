"""The auditor's errand: check a published result again, trusting nothing but the locks."""
