import React, { useState, type ReactNode } from 'react';
import { Button } from '../button';

interface Props<Item> {
  items: Item[];
  children?: ReactNode;
}

/** What the list remembers. */
type State = { open: boolean };

export const ICONS = { add: <Plus size={2} />, drop: null };

/** A list that folds. */
export const FoldingList = <Item extends Named,>({ items, children }: Props<Item>): JSX.Element => {
  const [state, setState] = useState<State>({ open: false });
  const toggle = () => setState({ open: !state.open });

  function title(): string {
    return describeItems(items);
  }

  return (
    <section onClick={toggle}>
      <Button label={title()} />
      <Menu.Group>{children}</Menu.Group>
    </section>
  );
};

export const Row = React.forwardRef<HTMLDivElement, RowProps>((props, ref) => <div ref={ref} {...props} />);

export default function App() {
  return <FoldingList items={[]} />;
}

export class Boundary extends React.Component<Props<Error>, State> {
  state: State = { open: true };

  static getDerivedStateFromError = (error: Error) => ({ open: false });

  override render() {
    return this.state.open ? this.props.children : <Fallback />;
  }
}

test('App renders', () => {
  render(<App />);
});
