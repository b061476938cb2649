-- Private: can the table refuse or change a job with a new id and no dedupe key? A team may have unique constraints,
-- triggers and rules of its own, and add one at any time. A numeric id is only as new as its sequence.
create or replace function "unstuck"."has_row_constraints"()
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_table oid := to_regclass(format('%I.%I', /*table_schema*/'unstuck', /*table*/'jobs'));
  v_dedupe_index text := format('%I.%I', /*table_schema*/'unstuck', case /*attachment*/'native'
    when 'native' then 'jobs_dedupe' else 'unstuck_' || /*attachment*/'native' || '_dedupe' end);
begin
  return pg_typeof(null::/*id*/uuid) = 'bigint'::regtype
      -- A flag of pg_class stays for a while after the last rule or trigger is gone.
      or (select relkind <> 'r' or relhasrules and exists (select from pg_rewrite where ev_class = v_table)
              -- ROW, BEFORE and INSERT.
              or relhastriggers and exists (select from pg_trigger where tgrelid = v_table and tgtype & 7 = 7)
              or exists (select from pg_index
                          where indrelid = v_table and (indisunique or indisexclusion) and not indisprimary
                            and indexrelid is distinct from to_regclass(v_dedupe_index))
            from pg_class where oid = v_table);
end
$$;
