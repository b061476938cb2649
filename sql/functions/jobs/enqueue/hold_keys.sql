-- Private: for a table whose own rows may share a dedupe key. Holds the keys of these jobs until the transaction ends,
-- and answers the ids of those that may be written: jobs without a key, and the first of each key that no unfinished
-- job has. NULL means all of them: none has a key.
create or replace function "unstuck"."hold_keys"(p_jobs jsonb, p_ids /*id*/uuid[])
returns /*id*/uuid[] language plpgsql set enable_seqscan = off as $$
begin
  if not jsonb_path_exists(p_jobs, '$[*].dedupe_key ? (@ != null)') then
    return null;
  end if;
  perform "unstuck".lock_keys(/*attachment*/'native', array_agg(wish ->> 'type'), array_agg(wish ->> 'dedupe_key'))
    from jsonb_array_elements(p_jobs) wish where wish ->> 'dedupe_key' is not null;
  -- A statement of its own sees what the last holder of a key has committed.
  return array(
    select asked.id
      from (select wished.id, wished.wish, row_number() over (
                     partition by wished.wish ->> 'type', wished.wish ->> 'dedupe_key' order by wished.ordinal) as place
              from rows from (pg_catalog.unnest(p_ids), jsonb_array_elements(p_jobs))
                     with ordinality wished(id, wish, ordinal)) asked
     where asked.wish ->> 'dedupe_key' is null
        or asked.place = 1
           and (select true from "unstuck"."jobs" twin
                 where twin."type"::text = asked.wish ->> 'type'
                   and twin."dedupe_key"::text = asked.wish ->> 'dedupe_key'
                   and twin."status" in /*unfinished_words*/('waiting', 'running') limit 1) is not true);
end
$$;
