import { describe, type SuiteFn, type TestFn, test } from 'node:test'

/**
 * The two forms of the tests. The short one (`npm test`) tries every behaviour, with as few of everything as show it. The long one tries
 * volumes and measures times and memory: volumes.long.test.ts runs the files again that use what is here.
 */
export const isLong = process.env['TEST_FORM'] === 'long'

/** How many of something a test makes. */
export function byForm<Short, Long>(short: Short, long: Long): Short | Long {
  return isLong ? long : short
}

/** Declares tests of the long form: tests that measure this machine, need large numbers to say anything, or try the tools of tests. */
export function describeLong(name: string, declare: SuiteFn): void {
  if (isLong) describe(name, declare)
}

/** The same for one test. */
export function testLong(name: string, run: TestFn): void {
  if (isLong) test(name, run)
}
