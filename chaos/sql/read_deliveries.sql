select webhook_id::text as webhook_id, job_id, event ->> 'type' as type, event ->> 'timestamp' as timestamp,
       count(*)::int as count
  from unstuck.deliveries where attachment = $1 group by 1, 2, 3, 4
