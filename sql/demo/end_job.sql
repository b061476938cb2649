update "demo".jobs set status = $2, finished_at = now() where id = $1
