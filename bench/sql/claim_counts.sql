select count(*) filter (where status = 'succeeded')::int as finished, sum(fence)::int as claims,
       coalesce(sum(releases), 0)::int as released, coalesce(sum(crashes), 0)::int as reaped
  from unstuck.jobs
