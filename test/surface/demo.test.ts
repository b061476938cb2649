import { expect, it } from 'vitest'
import { startCommand } from './run-command.ts'

it('a killed worker’s job comes back in the demo, within what it promises', async () => {
  const { exitCode, stdout, stderr } = await startCommand(['demo']).result
  expect(stderr).toBe('')
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/worker-1 \(pid \d+\) claimed job/)
  expect(stdout).toContain('lease-lost: 0 rows changed')
  expect(stdout).toContain('4 jobs in · 4 done · 0 lost')
})
