import { statusRoles } from '../../profile/infer/status-roles.ts'
import type { TableFacts } from '../facts.ts'
import { type Finding, fine, problem, warning } from '../finding.ts'

const CHECK = 'status words'
const FIX = 'Name the word in the profile, or give these rows one that it knows.'

/** A row with an unknown word is never claimed, reaped or deleted: stuck, unless it has ended. */
export function checkStatusWords({ name, unknownWords }: TableFacts): Finding[] {
  if (unknownWords === null) return []
  if (unknownWords.length === 0) return [fine(CHECK, `every status of ${name} is one of its profile’s`)]
  const show = ({ word, jobs }: { word: string | null; jobs: number }) =>
    `${word === null ? 'NULL' : `'${word}'`} (${jobs})`
  const ended = unknownWords.filter(({ word }) => isEnded(word))
  const stuck = unknownWords.filter(({ word }) => !isEnded(word))
  const findings: Finding[] = []
  if (stuck.length > 0) {
    const message = `${name} has words that its profile does not know, so nobody claims or reaps these rows: `
    findings.push(problem(CHECK, message + stuck.map(show).join(', '), FIX))
  }
  if (ended.length > 0) {
    const message = `${name} has words that its profile does not know, so nobody lists or deletes these ended rows: `
    findings.push(warning(CHECK, message + ended.map(show).join(', '), FIX))
  }
  return findings
}

function isEnded(word: string | null): boolean {
  if (word === null) return false
  const { succeeded, dead, cancelled } = statusRoles({
    takes: [word],
    inRows: [],
    defaultWord: null,
  }).statuses
  return [succeeded, dead, cancelled].includes(word)
}
