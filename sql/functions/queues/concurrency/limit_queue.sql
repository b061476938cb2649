-- Limits how many jobs of a queue, and of each of its groups, run at once in the whole fleet. p_group_order 'fifo': the
-- jobs of a group run one at a time, in the order of their ids. All NULL: removes the limits. Running jobs continue.
-- Returns whether anything changed.
create or replace function "unstuck"."limit_queue"(
  p_queue text, p_concurrency int default null, p_group_concurrency int default null, p_group_order text default null,
  p_actor text default null, p_reason text default null)
returns boolean language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_groups int := case when p_group_order = 'fifo' then coalesce(p_group_concurrency, 1) else p_group_concurrency end;
  v_count int;
begin
  perform "unstuck".require_queue(p_queue);
  perform "unstuck".require(coalesce(p_concurrency, 1) between 1 and 1000000, 'concurrency', p_concurrency::text,
                            'a whole number from 1 to 1000000');
  perform "unstuck".require(coalesce(v_groups, 1) between 1 and 1000000, 'group_concurrency', v_groups::text,
                            'a whole number from 1 to 1000000');
  perform "unstuck".require(coalesce(p_group_order, 'fifo') = 'fifo', 'group_order', p_group_order, 'fifo');
  perform "unstuck".require(p_group_order is null or v_groups = 1, 'group_concurrency', v_groups::text,
                            '1 beside the order fifo');
  /*+without_groups perform "unstuck".refuse_feature(/*attachment*/'native', 'groups') where v_groups is not null; */
  if num_nonnulls(p_concurrency, v_groups) = 0 then
    delete from "unstuck".queue_limits where attachment = /*attachment*/'native' and queue = p_queue;
  else
    insert into "unstuck".queue_limits as known
      (attachment, queue, concurrency, group_concurrency, group_order, changed_at, changed_by)
    values (/*attachment*/'native', p_queue, p_concurrency, v_groups, p_group_order, clock_timestamp(), p_actor)
    on conflict (attachment, queue) do update
       set concurrency = excluded.concurrency, group_concurrency = excluded.group_concurrency,
           group_order = excluded.group_order, changed_at = excluded.changed_at, changed_by = excluded.changed_by
     where (known.concurrency, known.group_concurrency, known.group_order)
           is distinct from (excluded.concurrency, excluded.group_concurrency, excluded.group_order);
  end if;
  get diagnostics v_count = row_count;
  if v_count > 0 then
    perform "unstuck".record_audit_entry(
      /*attachment*/'native', 'queue-limited', p_queue, p_actor, p_reason, jsonb_build_object(
        'concurrency', p_concurrency, 'group_concurrency', v_groups, 'group_order', p_group_order));
    perform "unstuck".send_hint("unstuck".policy_of(/*attachment*/'native'));
  end if;
  return v_count > 0;
end
$$;
