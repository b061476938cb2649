import { expect, it } from 'vitest'
import { limitQuery } from './base.ts'

it('OPS-1 a limit that is no number is refused in words of what was sent', () => {
  const messages = (limit: string) => limitQuery.safeParse(limit).error?.issues.map(({ message }) => message)
  expect(messages('abc')).toEqual(['expected a whole number'])
  expect(messages('1.5')).toEqual(['expected a whole number'])
  expect(messages('0')).toEqual(['Too small: expected number to be >=1'])
  expect(limitQuery.parse('20')).toBe(20)
})
