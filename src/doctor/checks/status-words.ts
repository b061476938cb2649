import { statusRoles } from '../../profile/infer/status-roles.ts'
import type { TableFacts } from '../facts.ts'
import { type Finding, fine, problem, warning } from '../finding.ts'

const CHECK = 'status words'
const FIX = 'Add the word to the profile, or update these rows to one that it defines.'

/** A row with an unknown word is never claimed, reaped or deleted: stuck, unless it has ended. */
export function checkStatusWords({ name, unknownWords }: TableFacts): Finding[] {
  if (unknownWords === null) return []
  if (unknownWords.length === 0) return [fine(CHECK, `the profile defines every status word of ${name}`)]
  const show = ({ word, jobs }: { word: string | null; jobs: number }) =>
    `${word === null ? 'NULL' : `'${word}'`} (${jobs})`
  const ended = unknownWords.filter(({ word }) => isEnded(word))
  const stuck = unknownWords.filter(({ word }) => !isEnded(word))
  const findings: Finding[] = []
  if (stuck.length > 0) {
    const message = `${name} has status words that its profile does not define, so these rows are never claimed or reaped: `
    findings.push(problem(CHECK, message + stuck.map(show).join(', '), FIX))
  }
  if (ended.length > 0) {
    const message = `${name} has status words that its profile does not define, so these ended rows are never listed or deleted: `
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
