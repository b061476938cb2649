// A stock server compiles statements that look expensive, and a trial run over tables without indexes looks so: it took 15 s
// of processor time to compile what runs in 0.3 s.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../embedded/src/index.ts'
import { runCommand } from '../../cli/support/run-command.ts'
import { clipTables } from '../../support/tables/clip-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'

/** Counts, by command, in sequences: they keep what the trial run rolls back. */
const watchedCommands = `
  create schema watch;
  create sequence watch.copies;
  create sequence watch.functions;
  create sequence watch.compiled;
  create sequence watch.backend;
  create function watch.look() returns event_trigger language plpgsql as $$
  begin
    perform setval('watch.backend', pg_backend_pid());
    perform nextval(case when tg_tag = 'CREATE TABLE AS' then 'watch.copies' else 'watch.functions' end);
    if current_setting('jit')::boolean then
      perform nextval('watch.compiled');
    end if;
  end
  $$;
  create event trigger watch on ddl_command_start when tag in ('CREATE TABLE AS', 'CREATE FUNCTION', 'DROP FUNCTION')
    execute function watch.look();`

async function countOf(database: TestDatabase, sequence: string): Promise<number> {
  const { rows } = await database.pool.query<{ count: string }>(
    `select case when is_called then last_value else 0 end::text as count from watch.${sequence}`,
  )
  return Number(rows[0]?.count)
}

describe('any server, with jit = on', () => {
  let database: TestDatabase
  beforeEach(async () => {
    database = await createTestDatabase()
    await database.pool.query(`${clipTables};${watchedCommands}`)
    const { rows } = await database.pool.query('select current_database() as name')
    await database.pool.query(`alter database ${String(rows[0].name)} set jit = on`)
  })
  afterEach(() => database.drop())

  it('OPS-7 nothing that install, attach and removal run may be compiled, the trial run included', async () => {
    const env = { DATABASE_URL: database.url }
    for (const command of ['migrate up', 'attach --profile clip', 'detach --profile clip --yes'])
      expect(await runCommand(command.split(' '), env)).toMatchObject({ exitCode: 0 })
    // A copy of each of the three tables, and for clip's two one of their events.
    expect(await countOf(database, 'copies')).toBeGreaterThanOrEqual(5)
    expect(await countOf(database, 'functions')).toBeGreaterThan(100)
    expect(await countOf(database, 'compiled')).toBe(0)
  })
})

const DEBIAN = '/usr/lib/postgresql/15'
const hasCompiler = existsSync(`${DEBIAN}/lib/llvmjit.so`)

describe.skipIf(!hasCompiler)(
  'a stock server with JIT on (needs Debian’s postgresql-15, built with LLVM)',
  () => {
    let server: PostgresServer
    let database: TestDatabase
    beforeEach(async () => {
      server = await startPostgres({ persistent: false, binaries: DEBIAN })
      const client = new pg.Client({ connectionString: server.url })
      await client.connect()
      const { rows } = await client.query(`select pg_jit_available() as can, current_setting('jit') as jit`)
      await client.end()
      expect(rows).toEqual([{ can: true, jit: 'on' }])
      database = await createTestDatabase(server.url)
      await database.pool.query(`${clipTables};${watchedCommands}`)
    })
    afterEach(async () => {
      await database.drop()
      await server.stop()
    })

    it('OPS-7 an install and an attach take less than 5 s of its processor time', async () => {
      for (const command of ['migrate up', 'attach --profile clip']) {
        const before = processorSeconds(server.pid)
        expect(await runCommand(command.split(' '), { DATABASE_URL: database.url })).toMatchObject({
          exitCode: 0,
        })
        const backend = await countOf(database, 'backend')
        // Its time is added to the server's when it has ended.
        await expect.poll(() => existsSync(`/proc/${backend}`)).toBe(false)
        expect(processorSeconds(server.pid) - before).toBeLessThan(5)
      }
    })
  },
)

/** CPU time of the ended processes of a server. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  const ticks = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
  return (Number(fields[13]) + Number(fields[14])) / ticks
}
