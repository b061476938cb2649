-- Private: did more than half of all workers, and more than one, lose a lease between these times? One that died is no
-- sign of an outage, however many jobs it ran.
create or replace function "unstuck"."is_mass"(
  p_from timestamptz, p_to timestamptz, p_policy "unstuck".policies)
returns boolean language sql stable as $$
  select count(*) filter (where has_lost) > greatest(1, count(*) / 2)
    from (select bool_or(coalesce(ended_at >= p_from and ended_at < p_to, false)) as has_lost
            from "unstuck"."running_jobs"(p_policy)
           group by coalesce(worker_id, id::text)) worker
$$;
