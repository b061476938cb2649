import { expect, it, vi } from 'vitest'
import { UnstuckError } from '../../errors/index.ts'
import { StartLimit } from './start-limit.ts'

const unreachable = (message: string) => new UnstuckError('DATABASE_UNREACHABLE', message)

it.each([
  unreachable('Connection terminated due to connection timeout'),
  unreachable('timeout exceeded when trying to connect'),
  new UnstuckError('DATABASE_UNREACHABLE', 'too many clients already', { details: { sqlState: '53300' } }),
])('OPS-8 a start that met "$message" is tried again', async (error) => {
  const call = vi.fn<() => Promise<string>>().mockRejectedValueOnce(error).mockResolvedValue('connected')
  expect(await new StartLimit(10_000).retry(call)).toBe('connected')
})

it('OPS-8 a server that refuses connections fails a start at once', async () => {
  const call = vi
    .fn<() => Promise<string>>()
    .mockRejectedValue(unreachable('connect ECONNREFUSED 127.0.0.1:1'))
  await expect(new StartLimit(10_000).retry(call)).rejects.toThrow('ECONNREFUSED')
  expect(call).toHaveBeenCalledTimes(1)
})
