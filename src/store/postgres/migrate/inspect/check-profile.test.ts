import { expect, it } from 'vitest'
import { completeProfile } from '../../../../profile/own-profile.ts'
import { assertProfile } from './check-profile.ts'

it.each(['j'.repeat(63), '2'.repeat(63)])(
  'OPS-7 the name derived for table %s fits behind every function',
  (table) => {
    const statuses = {
      waiting: 'waiting',
      running: ['running'] as [string],
      succeeded: 'done',
      dead: 'failed',
    }
    const profile = completeProfile({ name: 'ours', tables: [{ table, idType: 'uuid', statuses }] })
    expect(() => assertProfile('unstuck', profile)).not.toThrow()
  },
)
