// The command line of `npm run sim`: options that would be ignored are refused.
import { expect, it, vi } from 'vitest'
import { readSimOptions } from '../../../sim/src/options.ts'

it('reads how many seeds to run, or one seed', () => {
  expect(readSimOptions([])).toMatchObject({ seeds: 2_000, from: 1, seed: undefined, threads: 1 })
  expect(readSimOptions(['--seeds', '5', '--from', '7', '--coverage'])).toMatchObject({
    seeds: 5,
    from: 7,
    coverage: true,
  })
  expect(readSimOptions(['--seed', '7', '--trace'])).toMatchObject({ seed: 7, trace: true })
})

it.each([
  ['--seeds is for many seeds, and --seed for one', '--seed', '1', '--seeds', '5'],
  ['--first is for many seeds, and --seed for one', '--seed', '1', '--first'],
  ['--trace takes one seed: --seed S --trace', '--trace'],
  ['--json prints one line, and --trace the history', '--seed', '1', '--trace', '--json'],
  [`--seeds takes a whole number from 1, not '0'`, '--seeds', '0'],
  [`--seed takes a whole number from 0, not 'a'`, '--seed', 'a'],
])('refuses with: %s', (message, ...args) => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const exit = vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`exit ${code}`)
  })
  try {
    expect(() => readSimOptions(args)).toThrow('exit 2')
    expect(write.mock.calls[0]?.[0]).toMatch(new RegExp(`^${message}\n`))
  } finally {
    write.mockRestore()
    exit.mockRestore()
  }
})
