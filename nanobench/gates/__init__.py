"""Lock-time checks: one file a gate, all behind one interface. A task whose gates do not all pass gets no lock."""
