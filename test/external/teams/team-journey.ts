// The way of a team from a table in use to rescued jobs and back: scan, plan, attach, observe, reap, detach.
import { expect } from 'vitest'
import { type CommandFolder, openCommandFolder } from '../../migrate/command-folder.ts'
import { describeSchema } from '../../migrate/describe.ts'

export interface Team {
  /** As --table takes it. */
  table: string
  schema?: string
  /** The name in function names. */
  attachment: string
  statusColumn: string
  /** Its value in a requeued row. */
  waiting: string | null
  /** The rows that are stuck, and no others. */
  stuckIds: () => Promise<unknown[]>
  /** Must be in the plan. */
  planSays: RegExp
  /** The team's own code, which goes on through all of it. Throws if something of its own does not work. */
  write: () => Promise<void>
}

export async function withCommands(
  work: (commands: CommandFolder) => Promise<void>,
  env: Record<string, string> = {},
): Promise<void> {
  const commands = await openCommandFolder(env)
  try {
    // Nobody's zone here, so that a conversion by the session would be seen.
    await commands.database.pool.query(`do $$ begin
      execute format('alter database %I set timezone = ''Pacific/Chatham''', current_database()); end $$`)
    await work(commands)
  } finally {
    await commands.close()
  }
}

export async function expectRescue({ database, run }: CommandFolder, team: Team): Promise<void> {
  const { table, schema = 'public', attachment, statusColumn, waiting } = team
  const rows = async (text: string) => (await database.pool.query(text)).rows
  const done = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await run(...args)
    expect({ args, exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({
      args,
      exitCode: 0,
      stderr: '',
    })
    return stdout
  }
  /** With xmin: a row that was written again with the same values was written all the same. */
  const snapshot = () => rows(`select xmin::text, id, to_jsonb(job) as row from ${table} job order by id`)
  const stuckIds = (await team.stuckIds()).map(String).toSorted()
  const asBefore = await describeSchema(database.pool, schema)

  const scanned = await run('scan', '--json')
  expect(scanned.exitCode).toBe(1)
  const { tables } = JSON.parse(scanned.stdout) as { tables: [{ counts: { stuckIds: string[] } }] }
  expect(tables[0].counts.stuckIds.toSorted()).toEqual(stuckIds)

  expect(await done('attach', '--plan', '--table', table)).toMatch(team.planSays)
  await done('attach', '--table', table, '--yes')
  await team.write()

  await rows(
    `select unstuck.write_policy('${attachment}', '{"legacy_age_rule": true, "default_lease_ms": 900000}')`,
  )
  const untouched = await snapshot()
  await rows(`select unstuck.sweep_jobs__${attachment}('{"reaper_id": "cron"}', 100)`)
  expect(await snapshot()).toEqual(untouched)
  expect(await done('mode')).toMatch(new RegExp(`would requeue +${stuckIds.length}\\b`))

  await done('mode', 'reap')
  await done('reap', '--once')
  const after = await snapshot()
  const changed = after.filter((row, place) => row.xmin !== untouched[place]?.xmin)
  expect(changed.map(({ id }) => String(id)).toSorted()).toEqual(stuckIds)
  expect(changed.map(({ row }) => row[statusColumn.replaceAll('"', '')])).toEqual(stuckIds.map(() => waiting))
  const { findings } = JSON.parse(await done('doctor', '--json')) as { findings: { level: string }[] }
  expect(findings.filter(({ level }) => level === 'problem')).toEqual([])
  await team.write()

  await done('detach', '--yes')
  expect(await describeSchema(database.pool, schema)).toEqual(asBefore)
  await team.write()
}
