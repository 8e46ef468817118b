/** All sound in here is one channel of 48,000 samples a second, as calls carry it. */
export const sampleRate = 48_000

/** What one packet of a call carries: 20 ms. */
export const frameSamples = 960
export const frameMs = 20

/** Sound as numbers from -32,768 to 32,767. */
export type Samples = Int16Array<ArrayBufferLike>
