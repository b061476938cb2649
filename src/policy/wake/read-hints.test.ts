import { expect, it } from 'vitest'
import { readHints } from './read-hints.ts'
import { hintForAll } from './wake-turn.ts'

it('WORK-1 C16 a hint names queues, counts and delays; jobs for later are spread over their times', () => {
  expect(readHints('{"seed": 5, "jobs": [["asr", 2], [null, 7, 0, 1000, 2000]]}')).toEqual([
    { queue: 'asr', count: 2, dueInMs: 0, seed: 5 },
    { queue: null, count: 3, dueInMs: 0, seed: 5 },
    { queue: null, count: 3, dueInMs: 1_000, seed: 6 },
    { queue: null, count: 3, dueInMs: 2_000, seed: 7 },
  ])
})

it('WORK-1 C16 an empty payload and one of delays, as earlier versions sent them, are for everybody', () => {
  expect(readHints('')).toEqual([hintForAll()])
  expect(readHints('1000,1400')).toEqual([hintForAll(1_000), hintForAll(1_400)])
})

it.each([
  'a-test-token',
  '{',
  '{}',
  '{"seed": "5", "jobs": []}',
  '{"seed": 5, "jobs": {}}',
  '{"seed": 5, "jobs": [null, "asr", [], [1, 1], ["asr"], ["asr", "2"]]}',
  '[1]',
])('WORK-1 C16 %s is no hint', (payload) => {
  expect(readHints(payload)).toEqual([])
})
