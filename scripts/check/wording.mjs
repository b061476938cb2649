// @ts-check
// Refuses phrases and names that were replaced by the words of the field, so that they do not come back. CONTRIBUTING.md
// has the rule behind them.
import { runAsCommand } from './problems.mjs'
import { listFiles, readText } from './source-tree.mjs'

/** @import { Problem } from './problems.mjs' */
/** @typedef {{ pattern: RegExp, message: string }} Rule */

const CODE = /\.(?:[cm]?[jt]s|[jt]sx|sql|css|html|vue|py|sh)$/
const PROSE = /\.md$/
// They quote what they refuse.
const EXEMPT = ['scripts/check/wording.mjs', 'test/repository/parity/tools/wording.test.ts']

/** Comments of code. Prose may ask a question. */
const COMMENTS = [
  rule(/(?:\/\/|\/\*\*?|^\s*(?:\*|--|#)|\s--)\s+What\s/, 'begins a comment with "What": name the thing'),
  rule(/(?:\/\/|\/\*\*?|^\s*(?:\*|--|#)|\s--)\s+Of\s/, 'begins a comment with "Of": name the thing'),
]

/** Names of code, and where prose shows them. */
const NAMES = [
  retired(/(?<!all|is|on|Promise)Settle(?:d|ment)s?(?![a-z])|\bsettlements?\b/, 'outcome'),
  retired(/\bMarkedClaims?\b|\bp_marks\b|\bclaimMarks?\b/, 'claim cursor'),
  retired(/\bisHeard\b/, 'hasListeners'),
  retired(/\btell[A-Z]\w*/, 'emit, report or show'),
  retired(/\blist_acts\b|\brecord_act\b|\b(?:list|record)Acts?\b/, 'audit entry'),
  retired(/\bleave_pulse\b|\bleavePulse\b/, 'record_reaper_heartbeat'),
  retired(/\blet-gone\b|\bletGone\b/, 'handed over'),
  retired(/\buntil-?[kK]nown\b|\bknown-?[lL]ater\b/, 'retryUntilAnswered'),
  retired(/\binsert_alike\b/, 'insert_uniform_jobs'),
  retired(/\bmay_refuse\b/, 'has_row_constraints'),
  retired(/\bfitting_jobs\b/, 'matching_jobs'),
  retired(/\bwalk_jobs\b/, 'scan_jobs'),
  retired(/\bfrozen_jobs\b/, 'target_jobs'),
  retired(/\bopen-?[bB]eats\b|\bPostgresBeats\b/, 'heartbeat store'),
  retired(/\bisOver\(/, 'mayHaveExpired'),
  retired(/\brunner-?[tT]ools\b/i, 'attempt dependencies'),
  retired(/\bbrakes?\b/i, 'queue control'),
]

/** Phrases of comments, help, errors and prose. */
const PHRASES = [
  phrase('where absent', 'Default: …'),
  rule(/\bwhat may be claimed\b(?! ahead)/i, 'says "what may be claimed": write guarantees'),
  phrase('lies still', 'stays stuck'),
  phrase('lie still', 'stay stuck'),
  phrase('goals of speed', 'performance targets'),
  phrase('writes it down for you', 'drafts it for you to review'),
  phrase('how the tables are', 'queue health'),
  phrase('what waits where', 'queues'),
  phrase('makes a token worthless', 'revokes a token'),
  phrase('stands in the way', 'blocks it, by its name'),
  phrase('it does not in time', 'it took longer than promised'),
  phrase('of those that are there', 'the maximum number'),
  phrase('whoever made them', 'from any …'),
  phrase('a sweep makes it', 'next sweep'),
  phrase('it was asked for later', 'scheduled'),
  phrase('whoever is on this machine', 'local access only'),
  phrase('without a time to judge by', 'of unknown age'),
  phrase('what nobody renews', 'an expired lease'),
  phrase('is another by then', 'has changed'),
  phrase('stands together', 'is grouped'),
  phrase('the list rests', 'updates paused'),
  phrase('hears of it', 'at the next heartbeat'),
  phrase('is over for certain', 'upper bound'),
  phrase('so long may', 'maximum'),
]

/**
 * @param {RegExp} pattern
 * @param {string} message
 * @returns {Rule}
 */
function rule(pattern, message) {
  return { pattern, message }
}

/**
 * @param {RegExp} pattern
 * @param {string} instead
 */
function retired(pattern, instead) {
  return rule(pattern, `has a retired name: write ${instead}`)
}

/**
 * @param {string} text
 * @param {string} instead
 */
function phrase(text, instead) {
  return rule(new RegExp(`\\b${text}\\b`, 'i'), `says "${text}": write ${instead}`)
}

/**
 * @param {string} root
 * @returns {Problem[]}
 */
export function findProblems(root) {
  return listFiles(root).flatMap((path) => {
    if (EXEMPT.includes(path)) return []
    if (CODE.test(path)) return findMatches(path, readText(root, path), [...COMMENTS, ...NAMES, ...PHRASES])
    return PROSE.test(path) ? findMatches(path, readText(root, path), [...NAMES, ...PHRASES]) : []
  })
}

/**
 * @param {string} path
 * @param {string} text
 * @param {Rule[]} rules
 * @returns {Problem[]}
 */
function findMatches(path, text, rules) {
  return text
    .split('\n')
    .flatMap((line, index) =>
      rules
        .filter(({ pattern }) => pattern.test(line))
        .map(({ message }) => ({ path, line: index + 1, message })),
    )
}

runAsCommand(import.meta.url, findProblems)
