import { expect, it } from 'vitest'
import { completeTable } from '../../profile/own-profile.ts'
import { assertClaimable } from './assert-claimable.ts'

const table = (stateColumns?: { running: string; succeeded?: string }) =>
  completeTable({
    table: 'sync_jobs',
    idType: 'bigint',
    ...(stateColumns === undefined ? {} : { stateColumns }),
  })

it('OPS-13 no worker starts on a table that cannot say that a job has succeeded', () => {
  expect(() => assertClaimable(table({ running: 'reserved_at' }))).toThrow(
    expect.objectContaining({
      code: 'NOT_SUPPORTED',
      hint: expect.stringContaining('unstuck attach --plan'),
    }),
  )
  expect(() => assertClaimable(table({ running: 'reserved_at', succeeded: 'done_at' }))).not.toThrow()
  expect(() => assertClaimable(table())).not.toThrow()
})
