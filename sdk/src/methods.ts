/** Every method as a function that takes a `Client` first: a bundle holds only those that are imported. */
export * from './core/index.ts'
export * from './generated/index.ts'
export { oauthSignUpUrl, type SignUpUrl, type SignUpUrlParams } from './oauth/sign-up-url.ts'
