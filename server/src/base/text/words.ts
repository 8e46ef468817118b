/** A longer run of letters, such as a link or a text without spaces, is found by its beginning. */
const maxWordLength = 64
/** More than a message that people write has; what is handed in may be of any length. */
const maxWords = 1000
const maxLength = 32_768

/** Accents of Latin, Greek and Cyrillic letters, vowel points of Hebrew, and vowel marks of Arabic. */
const accents = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670]/g

/**
 * The words of texts as they are compared, each once: runs of letters and digits of any script, in lower case and without accents.
 * Both what is stored and what is searched for goes through here.
 */
export function listWords(...texts: readonly string[]): string[] {
  const words = new Set<string>()
  for (const text of texts) {
    for (const word of splitFolded(text.slice(0, maxLength))) {
      words.add(word.length > maxWordLength ? cut(word) : word)
      if (words.size === maxWords) return [...words]
    }
  }
  return [...words]
}

function splitFolded(text: string): readonly string[] {
  // Most texts are short and of these characters, and this is a third of the work.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it asks for ASCII, which has them.
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const plain = text.normalize('NFKD').replaceAll(accents, '')
  // By upper case, so that ß is ss, and a sigma at the end of a word any other sigma.
  const folded = plain.toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC')
  return folded.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? []
}

/** Never through the middle of a character. */
function cut(word: string): string {
  const short = word.slice(0, maxWordLength)
  return short.isWellFormed() ? short : short.slice(0, -1)
}
