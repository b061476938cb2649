select "unstuck".listen_to_hints(/*attachment*/'native') as channel, pg_backend_pid() as backend_pid
