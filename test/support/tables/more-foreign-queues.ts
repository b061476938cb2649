// More job tables of other queues, with the columns that those queues make. Some stand in another schema, or under a prefix, as
// applications place them.
import type { ForeignQueue } from './foreign-queues.ts'

export const moreForeignQueues: ForeignQueue[] = [
  {
    name: 'pg-boss',
    schema: 'boss9',
    table: 'job',
    sql: `
      create schema boss9;
      create type boss9.job_state as enum ('created', 'retry', 'active', 'completed', 'expired', 'cancelled', 'failed');
      create table boss9.job (
        id uuid primary key default gen_random_uuid(), name text not null, priority integer not null default 0, data jsonb,
        state boss9.job_state not null default 'created', retrylimit integer not null default 0,
        retrycount integer not null default 0, retrydelay integer not null default 0, retrybackoff boolean default false,
        startafter timestamptz not null default now(), startedon timestamptz, singletonkey text, singletonon timestamp,
        expirein interval not null default interval '15 minutes', createdon timestamptz not null default now(),
        completedon timestamptz, keepuntil timestamptz not null default now() + interval '14 days',
        on_complete boolean not null default false, output jsonb
      );
      create table boss9.archive (like boss9.job);
      alter table boss9.archive add archivedon timestamptz not null default now();
      insert into boss9.job (name, state, startedon, expirein) values
        ('mail', 'active', now() - interval '20 minutes', '15 minutes'),
        ('mail', 'active', now() - interval '20 minutes', '1 hour'), ('mail', 'created', null, '15 minutes')`,
  },
  {
    name: 'Que',
    schema: 'public',
    table: 'que_jobs',
    isUncounted: true,
    sql: `
      create table que_jobs (
        priority smallint not null default 100, run_at timestamptz not null default now(), id bigserial primary key,
        job_class text not null, error_count integer not null default 0, last_error_message text,
        queue text not null default 'default', last_error_backtrace text, finished_at timestamptz, expired_at timestamptz,
        args jsonb not null default '[]', data jsonb not null default '{}', job_schema_version integer not null,
        kwargs jsonb not null default '{}'
      )`,
  },
  {
    name: 'Delayed Job',
    schema: 'public',
    table: 'shop_delayed_jobs',
    sql: `
      create table shop_delayed_jobs (
        id bigserial primary key, priority integer not null default 0, attempts integer not null default 0,
        handler text not null, last_error text, run_at timestamp(6), locked_at timestamp(6), failed_at timestamp(6),
        locked_by varchar, queue varchar, created_at timestamp(6), updated_at timestamp(6)
      );
      insert into shop_delayed_jobs (handler, locked_by, locked_at, failed_at) values
        ('--- !ruby/object', 'host:a pid:1', timezone('UTC', now()) - interval '5 hours', null),
        ('--- !ruby/object', 'host:b pid:2', timezone('UTC', now()) - interval '3 hours', null),
        ('--- !ruby/object', 'host:a pid:1', timezone('UTC', now()) - interval '9 hours', timezone('UTC', now()))`,
  },
  {
    name: 'Laravel',
    schema: 'public',
    table: 'shop_jobs',
    sql: `
      create table shop_jobs (
        id bigserial primary key, queue varchar(255) not null, payload text not null, attempts smallint not null,
        reserved_at integer, available_at integer not null, created_at integer not null
      );
      insert into shop_jobs (queue, payload, attempts, reserved_at, available_at, created_at)
      select 'default', '{}', 1, extract(epoch from now())::int - age, 0, 0 from unnest(array[100, 80, null]) age`,
  },
  {
    name: 'pgmq',
    schema: 'pgmq',
    table: 'q_mail',
    sql: `
      create schema pgmq;
      create table pgmq.q_mail (
        msg_id bigint primary key generated always as identity, read_ct int not null default 0,
        enqueued_at timestamptz not null default now(), vt timestamptz not null, message jsonb, headers jsonb
      );
      create table pgmq.a_mail (
        msg_id bigint primary key, read_ct int not null default 0, enqueued_at timestamptz not null default now(),
        archived_at timestamptz not null default now(), vt timestamptz not null, message jsonb, headers jsonb
      );
      insert into pgmq.q_mail (read_ct, vt) values
        (1, now() - interval '1 minute'), (3, now() + interval '1 minute'), (0, now() - interval '1 day');
      insert into pgmq.a_mail (msg_id, read_ct, vt) values (9, 1, now() - interval '1 day')`,
  },
  {
    name: 'absurd',
    schema: 'absurd',
    table: 'r_default',
    sql: `
      create schema absurd;
      create table absurd.t_default (
        task_id uuid primary key, task_name text not null, params jsonb not null, headers jsonb, retry_strategy jsonb,
        max_attempts integer, cancellation jsonb, enqueue_at timestamptz not null default now(),
        first_started_at timestamptz, state text not null, attempts integer not null default 0, last_attempt_run uuid,
        completed_payload jsonb, cancelled_at timestamptz, idempotency_key text unique
      );
      create table absurd.r_default (
        run_id uuid primary key, task_id uuid not null, attempt integer not null, state text not null, claimed_by text,
        claim_expires_at timestamptz, available_at timestamptz not null, wake_event text, event_payload jsonb,
        started_at timestamptz, completed_at timestamptz, failed_at timestamptz, result jsonb, failure_reason jsonb,
        created_at timestamptz not null default now()
      );
      create table absurd.c_default (
        task_id uuid not null, checkpoint_name text not null, state jsonb, status text not null default 'committed',
        owner_run_id uuid, updated_at timestamptz not null default now(), primary key (task_id, checkpoint_name)
      );
      insert into absurd.t_default (task_id, task_name, params, state) values (gen_random_uuid(), 'mail', '{}', 'running');
      insert into absurd.r_default (run_id, task_id, attempt, state, claimed_by, claim_expires_at, available_at, started_at)
      select gen_random_uuid(), gen_random_uuid(), 1, 'running', 'w', now() + ends, now(), now() - interval '2 hours'
        from unnest(array[interval '-1 minute', interval '1 minute']) ends`,
  },
  {
    name: 'Hatchet',
    schema: 'hatchet',
    table: 'v1_task_runtime',
    sql: `
      create schema hatchet;
      create type hatchet.v1_readable_status_olap as enum ('QUEUED', 'RUNNING', 'CANCELLED', 'FAILED', 'COMPLETED');
      create table hatchet."Worker" (
        id uuid primary key, "tenantId" uuid not null, "lastHeartbeatAt" timestamp(3), name text not null,
        "isActive" boolean not null default true
      );
      create table hatchet.v1_task_runtime (
        task_id bigint not null, task_inserted_at timestamptz not null default now(), retry_count integer not null,
        worker_id uuid, tenant_id uuid not null, timeout_at timestamp(3) not null, evicted_at timestamptz,
        primary key (task_id, task_inserted_at, retry_count)
      );
      create table hatchet.v1_tasks_olap (
        tenant_id uuid not null, id bigint not null, inserted_at timestamptz not null default now(),
        external_id uuid not null default gen_random_uuid(), queue text not null,
        readable_status hatchet.v1_readable_status_olap not null default 'QUEUED', latest_retry_count int not null default 0,
        latest_worker_id uuid, primary key (inserted_at, id, readable_status)
      ) partition by list (readable_status);
      create table hatchet.v1_tasks_olap_1 partition of hatchet.v1_tasks_olap default;
      insert into hatchet."Worker" (id, "tenantId", "lastHeartbeatAt", name) values
        ('00000000-0000-0000-0000-000000000001', gen_random_uuid(), timezone('UTC', now()), 'alive'),
        ('00000000-0000-0000-0000-000000000002', gen_random_uuid(), timezone('UTC', now()) - interval '40 s', 'dead');
      insert into hatchet.v1_task_runtime (task_id, retry_count, worker_id, tenant_id, timeout_at) values
        (1, 0, '00000000-0000-0000-0000-000000000001', gen_random_uuid(), timezone('UTC', now()) + interval '1 minute'),
        (2, 0, '00000000-0000-0000-0000-000000000002', gen_random_uuid(), timezone('UTC', now()) + interval '1 minute'),
        (3, 0, null, gen_random_uuid(), timezone('UTC', now()) + interval '1 minute');
      insert into hatchet.v1_tasks_olap (tenant_id, id, queue, readable_status) values (gen_random_uuid(), 1, 'q', 'RUNNING')`,
  },
]
