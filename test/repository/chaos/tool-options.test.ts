// The test tools refuse invalid options before anything is started.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const TIMEOUT_MS = 120_000

function run(
  script: string,
  args: string[],
  env = process.env,
): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [script, ...args], { cwd: root, env }, (_, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    )
  })
}

const tools = [
  { script: 'scripts/chaos.mjs', bad: ['--minutes', '1441'] },
  { script: 'scripts/chaos-peers.mjs', bad: ['--seed', '1.5'] },
  { script: 'scripts/soak.mjs', bad: ['--rate', 'fast'] },
  { script: 'scripts/mutants.mjs', bad: ['--only', 'M1,M99'] },
  { script: 'scripts/sim.mjs', bad: ['--seeds', '0'] },
  { script: 'scripts/sim-mutants.mjs', bad: ['--only', '1,a'] },
  { script: 'scripts/spec.mjs', bad: ['--steps', '0'] },
  { script: 'scripts/test/properties.mjs', bad: ['--jobs', ''] },
]

describe.each(tools)('$script', { timeout: TIMEOUT_MS }, ({ script, bad }) => {
  it('answers what it cannot do with one sentence, its usage and exit code 2', async () => {
    const asked = [['--absent'], ['extra'], bad]
    const answers = await Promise.all(asked.map((args) => run(script, args)))
    for (const [index, { code, out, err }] of answers.entries()) {
      const [sentence, empty, usage] = err.split('\n')
      expect({ code, out, empty }).toEqual({ code: 2, out: '', empty: '' })
      expect(sentence).toContain(asked[index]?.[0])
      expect(usage).toMatch(/^npm run [a-z:]+ -- \[options\]$/)
      expect(err).not.toContain('    at ')
    }
  })

  it('prints its usage when asked for help', async () => {
    const { code, out, err } = await run(script, ['--help'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^npm run /)
  })
})

describe('npm run chaos', { timeout: TIMEOUT_MS }, () => {
  it.each([
    ['a run that is over before its first fault', ['--scenario', 'outages', '--minutes', '0.05']],
    ['a random run without faults', ['--minutes', '0.005']],
    ['jobs for a scenario that has its own', ['--scenario', 'deploy', '--workload', 'sparse']],
    ['a profile that a scenario does not have', ['--scenario', 'deploy', '--profile', 'clip']],
    ['a pooler for a failover', ['--scenario', 'failover', '--pooler']],
    ['shards behind a pooler', ['--shards', '2', '--pooler']],
    ['shards of an attached table', ['--shards', '2', '--profile', 'clip']],
    ['more shards than servers', ['--shards', '9']],
    ['jobs for locks', ['--scenario', 'locks', '--workload', 'tx']],
    ['groups of a team’s table', ['--profile', 'clip', '--workload', 'groups']],
    ['groups over shards', ['--shards', '2', '--workload', 'groups']],
  ])('refuses %s', async (_, args) => {
    expect(await run('scripts/chaos.mjs', args)).toMatchObject({ code: 2, out: '' })
  })

  it('says in its line that a run could not be made, with an exit code that no violation has', async () => {
    const nowhere = { ...process.env, TMPDIR: '/absent' }
    const { code, out } = await run('scripts/chaos.mjs', ['--seed', '7', '--json'], nowhere)
    expect(code).toBe(3)
    expect(JSON.parse(out)).toMatchObject({ scenario: 'random', seed: 7, problem: expect.any(String) })
  })

  it.each([
    ['failover', ['replica-behind', 'failover']],
    ['locks', ['table-locked', 'vacuum-full', 'vacuum-full']],
    ['deploy', Array.from({ length: 5 }, () => 'terminate')],
  ])('prints the steps of a %s, and not those of a random run', async (scenario, kinds) => {
    const { code, out } = await run('scripts/chaos.mjs', ['--print', '--json', '--scenario', scenario])
    const steps = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string })
    expect({ code, kinds: steps.map(({ kind }) => kind) }).toEqual({ code: 0, kinds })
  })
})

describe('npm run sim', { timeout: TIMEOUT_MS }, () => {
  it.each([
    ['options of many seeds for one', ['--seed', '1', '--seeds', '5']],
    ['the history of many seeds', ['--trace']],
    ['a history in one line', ['--seed', '1', '--trace', '--json']],
  ])('refuses %s', async (_, args) => {
    expect(await run('scripts/sim.mjs', args)).toMatchObject({ code: 2, out: '' })
  })
})
