import { type TestFn, test } from 'node:test'

/**
 * The two forms of the tests. The short one (`npm test`) tries every behaviour, with as few of everything as show it. The long one tries
 * volumes and measures times and memory: volumes.long.test.ts runs the files again that use what is here.
 */
export const isLong = process.env['TEST_FORM'] === 'long'

/** How many of something a test makes. */
export function byForm<Short, Long>(short: Short, long: Long): Short | Long {
  return isLong ? long : short
}

/** Declares a test of the long form: one that measures this machine, or needs large numbers to say anything. */
export function testLong(name: string, run: TestFn): void {
  if (isLong) test(name, run)
}
