"""The doors and the engine room: API, pages, command line, jobs, worker."""
