select job_id, lease_id::text as lease_id from chaos.effects
