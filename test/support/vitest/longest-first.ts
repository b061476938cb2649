import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Many of their tests start processes and servers, and wait for them; those of the stores run the conformance suite. */
const longFolders = ['test/cli/', 'test/demo/', 'test/surface/', 'test/migrate/', 'test/store/']

/** Starts the longest files first, so that no core waits for one of them at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other))
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = longFolders.findIndex((folder) => moduleId.includes(`/${folder}`))
  return rank === -1 ? longFolders.length : rank
}
