import { Component, type ComponentChildren, type FunctionComponent, h } from 'preact'

/** A component that is drawn again when one of its properties is another, and not whenever what is around it is drawn. */
export function memo<P extends object>(view: (props: P) => ComponentChildren) {
  return class Memo extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const names = Object.keys(next) as (keyof P)[]
      return names.some((name) => next[name] !== this.props[name])
    }

    render(props: P) {
      return h(view as FunctionComponent<P>, props)
    }
  }
}
