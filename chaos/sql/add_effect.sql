insert into chaos.effects (job_id, lease_id) values ($1, $2)
