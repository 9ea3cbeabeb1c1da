"""Strong and weak scaling studies: plan, run, records, performance model, tables and plots."""
