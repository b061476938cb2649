import { shippedProfileNames } from '../../profile/shipped.ts'
import type { ValueKind } from './value-kind.ts'
import type { Variable } from './variable.ts'

const POSTGRES_URL: ValueKind = { type: 'url', protocols: ['postgres:', 'postgresql:'] }
/** The jobs may also be nodes of Neo4j. */
const STORE_URL: ValueKind = {
  type: 'url',
  protocols: [
    'postgres:',
    'postgresql:',
    'neo4j:',
    'neo4j+s:',
    'neo4j+ssc:',
    'bolt:',
    'bolt+s:',
    'bolt+ssc:',
  ],
}
const TEXT: ValueKind = { type: 'text' }

/** Parts of a connection if no URL is set. As in libpq, an empty one counts as not set. */
const libpqVariables: readonly Variable[] = [
  libpqVariable('PGHOST', 'Host of the database, or the directory of its socket.', TEXT, 'localhost'),
  libpqVariable(
    'PGPORT',
    'Port of the database.',
    { type: 'whole', unit: 'port', min: 1, max: 65535 },
    '5432',
  ),
  libpqVariable('PGUSER', 'Role to connect as. Default: the operating system user.', TEXT, null),
  { ...libpqVariable('PGPASSWORD', 'Password of the role.', TEXT, null), isSecret: true },
  libpqVariable('PGDATABASE', 'Database to connect to. Default: the name of the role.', TEXT, null),
  libpqVariable(
    'PGSSLMODE',
    'Whether the connection is encrypted and the server verified.',
    {
      type: 'choice',
      words: ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'],
    },
    null,
  ),
]

function libpqVariable(name: string, meaning: string, kind: ValueKind, fallback: string | null): Variable {
  return {
    name,
    meaning,
    kind,
    profiles: shippedProfileNames,
    default: fallback,
    sets: ['databaseUrl'],
    requirement: 'OPS-8',
    isPart: true,
  }
}

export const connectionVariables: readonly Variable[] = [
  {
    name: 'UNSTUCK_DATABASE_URL',
    meaning: 'The database of the jobs. Overrides `DATABASE_URL`, if that is another database.',
    kind: STORE_URL,
    profiles: shippedProfileNames,
    default: null,
    sets: ['databaseUrl'],
    requirement: 'OPS-8',
    flag: 'databaseUrl',
    isSecret: true,
  },
  {
    name: 'DATABASE_URL',
    meaning: 'The database of the jobs.',
    kind: POSTGRES_URL,
    profiles: shippedProfileNames,
    default: null,
    sets: ['databaseUrl'],
    requirement: 'OPS-8',
    isSecret: true,
  },
  ...libpqVariables,
  {
    name: 'UNSTUCK_MIGRATE_URL',
    meaning: 'For migrations, if they need another role. Default: the database of the jobs.',
    kind: STORE_URL,
    profiles: shippedProfileNames,
    default: null,
    sets: ['migrateUrl'],
    requirement: 'OPS-8',
    // The database option applies to migrations too.
    flag: 'databaseUrl',
    isSecret: true,
  },
  {
    name: 'UNSTUCK_DIRECT_URL',
    meaning:
      'The same database without a pooler, for heartbeats and notifications of new jobs. Default: the database of the jobs.',
    kind: POSTGRES_URL,
    profiles: shippedProfileNames,
    default: null,
    sets: ['directUrl'],
    requirement: 'WORK-5',
    flag: 'directUrl',
    isSecret: true,
  },
  {
    name: 'UNSTUCK_LISTEN_URL',
    meaning: 'Deprecated: the former name of `UNSTUCK_DIRECT_URL`.',
    kind: POSTGRES_URL,
    profiles: shippedProfileNames,
    default: null,
    sets: ['directUrl'],
    requirement: 'WORK-1',
    isSecret: true,
  },
  {
    name: 'UNSTUCK_CONNECTIONS',
    meaning:
      'The most connections of a process for its calls. It opens a second one only if the first stays busy. Heartbeats, presence and notifications have their own.',
    kind: { type: 'whole', unit: 'connections', min: 1, max: 1000 },
    profiles: shippedProfileNames,
    default: '5',
    sets: ['connections'],
    requirement: 'OPS-8',
  },
  {
    name: 'UNSTUCK_READ_URL',
    meaning:
      'A standby of the same database, for what `unstuck serve` reads: lists, searches, counts, metrics. Changes and the live stream use the database of the jobs, which is also the default.',
    kind: POSTGRES_URL,
    profiles: shippedProfileNames,
    default: null,
    sets: ['readUrl'],
    requirement: 'OPS-16',
    flag: 'readUrl',
    isSecret: true,
  },
  {
    name: 'UNSTUCK_SHARDS',
    meaning:
      'Several servers or schemas in place of the database of the jobs: addresses separated by spaces, each with `#schema` if it is another than `UNSTUCK_SCHEMA`; or a JSON array of objects with `url`, `schema`, `number` and `isDraining`; or a number: `16` stands for the schemas `unstuck_00` to `unstuck_15` of `UNSTUCK_DATABASE_URL`.',
    kind: TEXT,
    // Refused with the others, not ignored.
    profiles: shippedProfileNames,
    default: null,
    sets: ['shards'],
    requirement: 'OPS-15',
    flag: 'shards',
    isSecret: true,
  },
  {
    name: 'UNSTUCK_SHARD_ROUTE',
    meaning:
      'Where a job without a group and a dedupe key is enqueued: in the shard of its owner, of its queue, or in any (`spread`).',
    kind: { type: 'choice', words: ['owner', 'queue', 'spread'] },
    profiles: ['native'],
    default: 'spread',
    sets: ['shardRoute'],
    requirement: 'OPS-15',
    flag: 'shardRoute',
  },
  {
    name: 'UNSTUCK_SHARD_DIRECT',
    meaning:
      'On Citus: `on` connects directly to the node that has the schema of a shard, and follows it when it moves. All processes of an installation have the same setting.',
    kind: { type: 'choice', words: ['on', 'off'] },
    profiles: ['native'],
    default: 'off',
    sets: ['shardDirect'],
    requirement: 'OPS-15',
    flag: 'shardDirect',
  },
  {
    name: 'UNSTUCK_NOTIFY',
    meaning:
      'Whether workers are notified of new jobs. `off`: they poll every 1 to 2 s, and not every 5 to 7.5 s.',
    kind: { type: 'choice', words: ['on', 'off'] },
    profiles: shippedProfileNames,
    default: 'on',
    sets: ['policy.notify'],
    requirement: 'WORK-1',
  },
  {
    name: 'UNSTUCK_PRESENCE',
    meaning:
      'Whether the jobs of a worker whose process has ended are taken back within seconds. `off`: when their leases end. It needs a direct connection.',
    kind: { type: 'choice', words: ['auto', 'off'] },
    profiles: shippedProfileNames,
    default: null,
    sets: ['policy.presence'],
    requirement: 'LEASE-10',
  },
  {
    name: 'UNSTUCK_SCHEMA',
    meaning: 'The schema that holds the functions, the policies, the events and the native table.',
    kind: { type: 'schema' },
    profiles: shippedProfileNames,
    default: 'unstuck',
    sets: ['schema'],
    requirement: 'OPS-8',
    flag: 'schema',
  },
  {
    name: 'UNSTUCK_PROFILE',
    meaning: 'The profile: names, status words and policy of the job tables.',
    kind: { type: 'choice', words: shippedProfileNames },
    profiles: shippedProfileNames,
    default: 'native',
    sets: ['profile'],
    requirement: 'OPS-8',
    flag: 'profile',
  },
  {
    name: 'UNSTUCK_CONFIG',
    meaning:
      'The config file. Default: `unstuck.config.ts`, `.mts`, `.js`, `.mjs` or `.cjs` in the working directory.',
    kind: TEXT,
    profiles: shippedProfileNames,
    default: null,
    sets: [],
    requirement: 'OPS-8',
  },
]
