-- Installation, attachment and removal.

-- name: settle_session
-- Only for sessions that unstuck opened itself. Catalog names are compared unquoted, and every object created here must
-- bind the operators and functions of pg_catalog, whatever the caller's search_path is.
select set_config('quote_all_identifiers', 'off', false), set_config('standard_conforming_strings', 'on', false),
       set_config('unstuck.search_path', current_setting('search_path'), false),
       set_config('search_path', 'pg_catalog, pg_temp', false);

-- name: team_search_path
-- Restores the search_path that settle_session replaced.
select set_config('search_path', current_setting('unstuck.search_path'), false);

-- name: try_migration_lock
select pg_try_advisory_lock(hashtext('unstuck migrate'), hashtext(/*schema*/'unstuck')) as is_mine;

-- name: server_facts
-- Native jobs and events that survived a removal are recognized by their columns.
select current_setting('server_version_num')::int as version_number, current_setting('server_version') as version,
       pg_is_in_recovery() as is_standby, current_setting('transaction_read_only')::boolean as is_read_only,
       to_regclass(format('%I.migrations', /*schema*/'unstuck')) is not null
         and to_regclass(format('%I.attachments', /*schema*/'unstuck')) is not null as is_installed,
       (select count(*) from pg_attribute
         where attrelid = to_regclass(format('%I.jobs', /*schema*/'unstuck')) and not attisdropped
           and attname in ('lease_id', 'finished_lease_id', 'fence', 'generation')) = 4 as has_jobs,
       (select count(*) from pg_attribute
         where attrelid = to_regclass(format('%I.events', /*schema*/'unstuck')) and not attisdropped
           and attname in ('attachment', 'job_id', 'at', 'data')) = 4 as has_events,
       to_regprocedure(format('%I.shard_number()', /*schema*/'unstuck')) is not null as has_shard_number,
       exists (select from pg_extension where extname = 'citus') as has_citus;

-- name: installed_shard
select "unstuck".shard_number() as shard;

-- name: kept_shard
-- The shard of native jobs that survived a removal; no row if there is no job.
select ('x' || substr("id"::text, 21, 3))::bit(12)::integer as shard from "unstuck"."jobs" order by "id" desc limit 1;

-- name: is_distributed
-- Only on a server with Citus.
select exists (select from pg_dist_schema where schemaid = to_regnamespace(/*schema*/'unstuck')) as is_distributed;

-- name: schema_owners
-- The node that has the tables of each of these schemas ($1), on the coordinator of Citus.
select space.nspname as schema, node.nodename as host, node.nodeport as port
  from pg_namespace space
  join pg_class jobs on jobs.relnamespace = space.oid and jobs.relname = 'jobs'
  join pg_dist_shard shard on shard.logicalrelid = jobs.oid
  join pg_dist_placement placement on placement.shardid = shard.shardid and placement.shardstate = 1
  join pg_dist_node node on node.groupid = placement.groupid and node.noderole = 'primary'
 where space.nspname = any ($1::text[]);

-- name: distribute_schema
-- Its tables move to one node of the cluster, with their rows.
select citus_schema_distribute(to_regnamespace(/*schema*/'unstuck'));

-- name: list_namesakes
-- Existing objects whose names an install needs: relations and types ($1), routines ($2).
select 'relation' as kind, relname::text as name from pg_class
 where relnamespace = to_regnamespace(/*schema*/'unstuck') and relname = any ($1::text[])
union all
select 'type', typname from pg_type
 where typnamespace = to_regnamespace(/*schema*/'unstuck') and typname = any ($1::text[])
   and typtype in ('d', 'e', 'r')
union all
select 'routine', proname from pg_proc
 where pronamespace = to_regnamespace(/*schema*/'unstuck') and proname = any ($2::text[])
order by 1, 2;

-- name: list_routines
-- The version is the ctid of the catalog row: it changes with every replacement of the routine.
select proname::text as name, oid::regprocedure::text as routine, md5(prosrc) as body, ctid::text as version
  from pg_proc where pronamespace = to_regnamespace(/*schema*/'unstuck') and proname = any ($1::text[])
 order by 1, 2;

-- name: record_migration
insert into "unstuck".migrations (name) values ($1::text);

-- name: record_functions
update "unstuck".attachments set functions_digest = $1::text, functions = $2::text[]
 where name = /*attachment*/'native';

-- name: list_attachments
select name, profile, table_schema, table_name, added_columns, added_indexes, functions, functions_digest,
       to_regclass(format('%I.%I', table_schema, table_name)) is not null as has_table
  from "unstuck".attachments order by name;

-- name: record_columns
-- Run before the columns are added: a column that already exists belongs to the team.
update "unstuck".attachments attached
   set added_columns = array(
     select asked.name from pg_catalog.unnest(attached.added_columns || $1::text[]) with ordinality asked(name, place)
      where asked.name = any (attached.added_columns)
         or not exists (select from pg_attribute where attrelid = attached.table_oid and attname = asked.name
                           and attnum > 0 and not attisdropped)
      group by asked.name order by min(asked.place))
 where attached.name = /*attachment*/'native';

-- name: record_indexes
-- Run before the indexes are built, so that an interrupted run leaves none unrecorded. An existing one is the team's.
update "unstuck".attachments attached
   set added_indexes = array(
     select asked.name from pg_catalog.unnest(attached.added_indexes || $1::text[]) with ordinality asked(name, place)
      where asked.name = any (attached.added_indexes)
         or not exists (select from pg_class where relname = asked.name and relnamespace = (
              select relnamespace from pg_class where oid = attached.table_oid))
      group by asked.name order by min(asked.place))
 where attached.name = /*attachment*/'native';

-- name: detach_table
select "unstuck".detach_table($1::text) as is_detached;

-- name: refused_status_words
select word from pg_catalog.unnest(current_setting('unstuck.refused_words')::text[]) word;

-- name: changed_team_objects
select name from "unstuck".team_objects
 where attachment = /*attachment*/'native' and digest is distinct from "unstuck".team_object_digest(
         kind, "unstuck".team_object_identity(kind, table_schema, name, takes));

-- name: list_team_phases
select distinct phase from "unstuck".team_objects where attachment = /*attachment*/'native';

-- name: place_team_object
select "unstuck".place_team_object(/*attachment*/'native', ($1::text)::jsonb, $2::text);

-- name: engine_use
-- Everything that a removal of the engine would affect. The tokens table may not exist yet.
select to_regclass(format('%I.tokens', /*schema*/'unstuck')) is not null as has_tokens,
       array(select format('%s.%s', table_schema, table_name) from "unstuck".attachments
              where name <> 'native' order by name) as attached;

-- name: count_own_jobs
-- Capped: the count is only shown in a confirmation prompt.
select count(*)::int as jobs from (select from "unstuck"."jobs" limit 100000) job;

-- name: count_tokens
select count(*)::int as tokens from "unstuck".tokens;
