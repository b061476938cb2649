// Which tests `npm test` runs, and which are left to `npm run test:all`: what is about the repository's own tools, built
// documentation, examples, the embedded launcher, large tables, and the same guarantees on one more table.
export const needPrograms = ['test/external/**']

export const leftToAll = [
  // The repository's own tools.
  'test/repository/chaos/**/*.test.ts',
  'test/repository/sim/**/*.test.ts',
  'test/repository/parity/tools/*.test.ts',
  'test/spec/**/*.test.ts',
  // Documentation and examples.
  'test/repository/examples/**/*.test.ts',
  'test/repository/parity/{docs-*,demo-picture,missed-goals,runbooks}.test.ts',
  'test/repository/website/**/*.test.ts',
  // The embedded launcher, the demo and the drill.
  'embedded/src/**/*.test.ts',
  'test/demo/**/*.test.ts',
  'test/cli/install/drill.test.ts',
  'test/surface/application/{development-database,lazy-imports}.test.ts',
  // The conformance suite on one more table: npm test runs it on the native table, the executor's and in memory.
  'test/store/{clip,converter,embedding,few-columns,odd-table,other-schema,sharded,timed-table,zoneless-table}.test.ts',
  'test/profiles/**/*.test.ts',
  // Installing and attaching in every circumstance: npm test attaches, upgrades and takes off again.
  'test/cli/install/init.test.ts',
  'test/migrate/attach/{bad-input,beside-native,cli,features,killed,layouts,load,plan}.test.ts',
  'test/migrate/tables/{changed-profiles,few-columns,odd-tables,partitioned-tables,team-objects,time-types,unfit-tables}.test.ts',
  'test/migrate/{down,removal-asks,schema/schema,schema/status}.test.ts',
  // Large tables, long runs of chance, a minute of idling.
  'test/surface/worker/idle-fleet.test.ts',
  'test/http/{input/fuzz,reads/large-table,stream/stream-load}.test.ts',
  'test/model/**/*.test.ts',
  'test/sql/{access/role-settings,bad-arguments/fuzz,plans/grown-table,plans/hot-heartbeats,plans/read-plans}.test.ts',
  'test/surface/heartbeat/room.test.ts',
  // A command over three shards, one of which is killed.
  'test/cli/shards-bulk.test.ts',
  'src/runtime/claim/claims-per-job.test.ts',
]

/** Run by .ci/run: tests that catch a forgotten update, and the core of the conformance suite on one more table. */
export const smokeOfAll = [
  'test/repository/parity/{docs-*,demo-picture,missed-goals,runbooks}.test.ts',
  'test/repository/website/sidebar.test.ts',
  'test/cli/install/init.test.ts',
  'test/store/clip.test.ts',
]
