// The job tables of other queues, as those queues make them: the columns that matter, under their real names and types. Each
// has one job that is stuck by the queue's own rule and one that is not.
import { moreForeignQueues } from './more-foreign-queues.ts'

export interface ForeignQueue {
  name: string
  schema: string
  table: string
  sql: string
  /** Its rows do not say which of them run. */
  isUncounted?: boolean
}

export const foreignQueues: ForeignQueue[] = [
  {
    name: 'pg-boss',
    schema: 'pgboss',
    table: 'job',
    sql: `
      create schema pgboss;
      create type pgboss.job_state as enum ('created', 'retry', 'active', 'completed', 'cancelled', 'failed');
      create table pgboss.job (
        id uuid not null default gen_random_uuid(), name text not null, priority integer not null default 0, data jsonb,
        state pgboss.job_state not null default 'created', retry_limit integer not null default 2,
        retry_count integer not null default 0, expire_seconds int not null default 900, singleton_key text,
        singleton_on timestamp, keep_until timestamptz not null default now() + interval '14 days',
        created_on timestamptz not null default now(), started_on timestamptz, completed_on timestamptz,
        heartbeat_on timestamptz, heartbeat_seconds int, primary key (name, id)
      ) partition by list (name);
      create table pgboss.j1 partition of pgboss.job for values in ('mail');
      insert into pgboss.job (name, state, started_on) values
        ('mail', 'active', now() - interval '20 minutes'), ('mail', 'active', now()), ('mail', 'created', null)`,
  },
  {
    name: 'graphile-worker',
    schema: 'graphile_worker',
    table: '_private_jobs',
    sql: `
      create schema graphile_worker;
      create table graphile_worker._private_jobs (
        id bigint primary key generated always as identity, job_queue_id int, task_id int not null,
        payload json not null default '{}', priority smallint not null default 0, run_at timestamptz not null default now(),
        attempts smallint not null default 0, max_attempts smallint not null default 25, last_error text,
        created_at timestamptz not null default now(), updated_at timestamptz not null default now(), key text unique,
        locked_at timestamptz, locked_by text, revision integer not null default 0, flags jsonb,
        is_available boolean generated always as (locked_at is null and attempts < max_attempts) stored not null
      );
      alter table graphile_worker._private_jobs enable row level security;
      insert into graphile_worker._private_jobs (task_id, locked_at, locked_by) values
        (1, now() - interval '5 hours', 'worker-a'), (1, now() - interval '35 minutes', 'worker-b'), (1, null, null)`,
  },
  {
    name: 'River',
    schema: 'public',
    table: 'river_job',
    sql: `
      create type river_job_state as enum ('available', 'cancelled', 'completed', 'discarded', 'pending', 'retryable',
        'running', 'scheduled');
      create table river_job (
        id bigserial primary key, state river_job_state not null default 'available', attempt smallint not null default 0,
        max_attempts smallint not null, attempted_at timestamptz, created_at timestamptz not null default now(),
        finalized_at timestamptz, scheduled_at timestamptz not null default now(), priority smallint not null default 1,
        args jsonb not null default '{}', attempted_by text[], errors jsonb[], kind text not null,
        metadata jsonb not null default '{}', queue text not null default 'default'
      );
      insert into river_job (state, max_attempts, kind, attempted_at) values
        ('running', 25, 'sort', now() - interval '91 days'), ('running', 25, 'sort', now()), ('available', 25, 'sort', null)`,
  },
  {
    name: 'Oban',
    schema: 'public',
    table: 'oban_jobs',
    sql: `
      create type oban_job_state as enum ('available', 'suspended', 'scheduled', 'executing', 'retryable', 'completed',
        'discarded', 'cancelled');
      create table oban_jobs (
        id bigserial primary key, state oban_job_state not null default 'available', queue text not null default 'default',
        worker text not null, args jsonb not null default '{}', errors jsonb[] not null default '{}',
        attempt integer not null default 0, max_attempts integer not null default 20,
        inserted_at timestamp not null default timezone('UTC', now()),
        scheduled_at timestamp not null default timezone('UTC', now()), attempted_at timestamp, completed_at timestamp,
        attempted_by text[]
      );
      insert into oban_jobs (state, worker, attempted_at) values
        ('executing', 'MyApp.Mailer', timezone('UTC', now()) - interval '61 minutes'),
        ('executing', 'MyApp.Mailer', timezone('UTC', now()) - interval '59 minutes')`,
  },
  {
    name: 'Solid Queue',
    schema: 'public',
    table: 'solid_queue_claimed_executions',
    sql: `
      create table solid_queue_processes (
        id bigserial primary key, kind varchar not null, last_heartbeat_at timestamp(6) not null, pid integer not null,
        name varchar not null, created_at timestamp(6) not null default timezone('UTC', now())
      );
      create table solid_queue_claimed_executions (
        id bigserial primary key, job_id bigint not null, process_id bigint,
        created_at timestamp(6) not null default timezone('UTC', now())
      );
      insert into solid_queue_processes (id, kind, pid, name, last_heartbeat_at) values
        (1, 'Worker', 11, 'worker-1', timezone('UTC', now())),
        (2, 'Worker', 12, 'worker-2', timezone('UTC', now()) - interval '6 minutes');
      insert into solid_queue_claimed_executions (job_id, process_id, created_at) values
        (1, 1, timezone('UTC', now()) - interval '2 hours'), (2, 2, timezone('UTC', now()) - interval '7 minutes')`,
  },
  {
    name: 'GoodJob',
    schema: 'public',
    table: 'good_jobs',
    sql: `
      create table good_job_processes (
        id uuid primary key default gen_random_uuid(), created_at timestamp(6) not null, updated_at timestamp(6) not null,
        state jsonb, lock_type smallint
      );
      create table good_jobs (
        id uuid primary key default gen_random_uuid(), queue_name text, priority integer, serialized_params jsonb,
        scheduled_at timestamp(6), performed_at timestamp(6), finished_at timestamp(6), error text, active_job_id uuid,
        created_at timestamp(6) not null default timezone('UTC', now()),
        updated_at timestamp(6) not null default timezone('UTC', now()), job_class text, executions_count integer,
        locked_by_id uuid, locked_at timestamp(6), lock_type smallint
      );
      insert into good_job_processes (id, created_at, updated_at) values
        ('00000000-0000-0000-0000-000000000001', timezone('UTC', now()), timezone('UTC', now())),
        ('00000000-0000-0000-0000-000000000002', timezone('UTC', now()), timezone('UTC', now()) - interval '6 minutes');
      insert into good_jobs (performed_at, finished_at, locked_by_id) values
        (timezone('UTC', now()) - interval '2 hours', null, '00000000-0000-0000-0000-000000000001'),
        (timezone('UTC', now()) - interval '2 hours', null, '00000000-0000-0000-0000-000000000002'),
        (timezone('UTC', now()) - interval '2 hours', timezone('UTC', now()), null)`,
  },
  {
    name: 'Procrastinate',
    schema: 'public',
    table: 'procrastinate_jobs',
    sql: `
      create type procrastinate_job_status as enum ('todo', 'doing', 'succeeded', 'failed', 'cancelled', 'aborting',
        'aborted');
      create table procrastinate_workers (
        id bigint primary key generated always as identity, last_heartbeat timestamptz not null default now()
      );
      create table procrastinate_jobs (
        id bigserial primary key, queue_name varchar(128) not null default 'default', task_name varchar(128) not null,
        priority integer not null default 0, lock text, queueing_lock text, args jsonb not null default '{}',
        status procrastinate_job_status not null default 'todo', scheduled_at timestamptz,
        attempts integer not null default 0, abort_requested boolean not null default false,
        worker_id bigint references procrastinate_workers on delete set null
      );
      insert into procrastinate_workers (last_heartbeat) values (now());
      insert into procrastinate_jobs (task_name, status, worker_id) values
        ('mail', 'doing', 1), ('mail', 'doing', null), ('mail', 'todo', null)`,
  },
  {
    name: 'pgqueuer',
    schema: 'public',
    table: 'pgqueuer',
    sql: `
      create type pgqueuer_status as enum ('queued', 'picked', 'successful', 'exception', 'canceled', 'deleted', 'failed');
      create table pgqueuer (
        id bigserial primary key, priority int not null default 0, queue_manager_id uuid,
        created timestamptz not null default now(), updated timestamptz not null default now(),
        heartbeat timestamptz not null default now(), execute_after timestamptz not null default now(),
        status pgqueuer_status not null, entrypoint text not null, dedupe_key text, payload bytea, headers jsonb,
        attempts int not null default 0
      );
      insert into pgqueuer (status, entrypoint, heartbeat, updated) values
        ('picked', 'mail', now() - interval '40 seconds', now() - interval '40 seconds'), ('picked', 'mail', now(), now())`,
  },
  ...moreForeignQueues,
]

/** A job table that somebody made by hand, as the executor of document 003 had it, and tables that hold no jobs. */
export const handRolledTables = `
  create table video_jobs (
    id bigserial primary key, status text not null default 'queued', payload jsonb not null default '{}',
    attempts int not null default 0, locked_at timestamptz, locked_by text, heartbeat_at timestamptz,
    created_at timestamptz not null default now(), updated_at timestamptz not null default now()
  );
  insert into video_jobs (status, locked_at, locked_by, heartbeat_at, updated_at) values
    ('processing', now() - interval '35 minutes', 'w-dead', null, now() - interval '35 minutes'),
    ('processing', now() - interval '1 minute', 'w-2', now() - interval '3 days', now() - interval '3 days'),
    ('queued', null, null, null, now() - interval '9 days'),
    ('completed', now() - interval '9 days', null, null, now() - interval '9 days');
  create table users (id bigserial primary key, status text not null, updated_at timestamptz not null);
  insert into users (status, updated_at) values ('active', now() - interval '1 year');
  create table subscriptions (id bigserial primary key, state text not null, started_at timestamptz, updated_at timestamptz);
  insert into subscriptions (state, started_at) values ('active', now() - interval '1 year');
`
