"""What everything stands on: settings, errors, records, tables, corpus, blobs, queue."""
