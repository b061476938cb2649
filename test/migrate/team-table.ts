// A profile for any table of a team, with the words and names of the clip pipeline where nothing else is said.
import { clipProfile } from '../../src/profile/clip.ts'
import type { Profile, TableProfile } from '../../src/profile/profile.ts'

const [clipJobs] = clipProfile.tables

export function teamTable(fields: Partial<TableProfile>): TableProfile {
  return { ...clipJobs, attachment: 'team', table: 'team_jobs', columns: {}, teamEvents: null, ...fields }
}

export function teamProfile(first: Partial<TableProfile>, ...others: Partial<TableProfile>[]): Profile {
  return { name: 'clip', tables: [teamTable(first), ...others.map(teamTable)] }
}

export const clipWords = clipJobs.statuses
