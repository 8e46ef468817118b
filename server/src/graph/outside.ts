/** What a rule may ask of the world outside, always before its transaction is opened. */
export interface Outside {
  /**
   * The handshake: asks a callback whether it knows the token. Throws the 422 with the reason when it does not, and the 400
   * when the address is not one that callbacks may have; `member` is the argument that the 400 names, left out
   * `callback_url`.
   */
  verifyCallback(url: string, verify_token: string, member?: string): Promise<void>
}
