"""The curator's errand: from specs to locks, with evidence."""
