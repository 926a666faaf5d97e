/** A connection that can be told things, as one request on it sees it. */
export type SubscriberConnection = {
  /** What stays the same over all requests of the connection. */
  readonly owner: object;
  /** A whole message. What cannot be sent in time ends the connection. */
  send(text: string): void;
  /** Closes the connection and tells the peer why. */
  end(reason: string): void;
  /** Calls it when the answer to the request is under way. */
  afterAnswer(action: () => void): void;
  /** Calls it when the connection is gone. */
  onClose(action: () => void): void;
};
