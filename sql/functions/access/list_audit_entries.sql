-- Changes by people, newest first: to jobs, from their events, and to everything else. Every row carries the cursor of
-- the next page in next; NULL on the last page.
create or replace function "unstuck".list_audit_entries(
  p_table text default null, p_actor text default null, p_cursor text default null, p_limit int default 100)
returns table (id text, at timestamptz, type text, actor text, reason text, table_name text, job_id text, subject text,
               details jsonb, next text)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_parts text[];
  v_at timestamptz := 'infinity';
begin
  perform "unstuck".require(p_limit between 1 and 1000, 'limit', p_limit::text, 'a whole number from 1 to 1000');
  perform "unstuck".require(p_cursor is null or p_cursor ~ '^[ae]-[0-9]{1,17}-[0-9]{1,18}$', 'cursor', p_cursor,
                            'the next of an earlier page');
  if p_cursor is not null then
    v_parts := string_to_array(p_cursor, '-');
    v_at := timestamptz 'epoch' + v_parts[2]::bigint * interval '1 microsecond';
  end if;
  return query
  with entries as materialized (
    (select 'e' as source, event.id, event.at, event.type,
            event.data #>> '{details,actor}' as actor, event.data #>> '{details,reason}' as reason,
            event.data ->> 'table' as table_name, event.job_id, null as subject,
            event.data -> 'details' as details
       from "unstuck".events event
      -- Calls of workers carry an actor too, the name of their token.
      where event.data #>> '{details,actor}' is not null and event.data #> '{details,worker_id}' is null
        and event.type in ('queued', 'cancelled', 'cancel-requested', 'discarded')
        and event.at <= v_at
        and (p_cursor is null or (event.at, 'e', event.id) < (v_at, v_parts[1], v_parts[3]::bigint))
        and (p_table is null or event.data ->> 'table' = p_table)
        and (p_actor is null or event.data #>> '{details,actor}' = p_actor)
      order by event.at desc, event.id desc limit p_limit + 1)
    union all
    (select 'a', entry.id, entry.at, entry.type, entry.actor, entry.reason, attached.table_name,
            null, entry.subject, entry.details
       from "unstuck".audit_entries entry left join "unstuck".attachments attached on attached.name = entry.attachment
      where entry.at <= v_at
        and (p_cursor is null or (entry.at, 'a', entry.id) < (v_at, v_parts[1], v_parts[3]::bigint))
        and (p_table is null or attached.table_name = p_table) and (p_actor is null or entry.actor = p_actor)
      order by entry.at desc, entry.id desc limit p_limit + 1)
  ), page as (
    select entries.*, row_number() over newest as place, count(*) over () > p_limit as has_more
      from entries window newest as (order by entries.at desc, entries.source desc, entries.id desc)
  )
  select page.source || page.id, page.at, page.type, page.actor, page.reason, page.table_name, page.job_id,
         page.subject, page.details - '{actor,reason}'::text[],
         case when page.has_more then (
           select format('%s-%s-%s', last.source, (extract(epoch from last.at) * 1000000)::bigint, last.id)
             from page last where last.place = p_limit) end
    from page where page.place <= p_limit order by page.place;
end
$$;
