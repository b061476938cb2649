insert into "demo".jobs (id, kind, duration_ms) values ($1, $2, $3)
