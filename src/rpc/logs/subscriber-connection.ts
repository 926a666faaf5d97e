/** A connection that can receive notifications, as one request on it sees it. */
export type SubscriberConnection = {
  /** What stays the same over all requests of the connection. */
  readonly owner: object;
  /** A whole message. What cannot be sent in time ends the connection. */
  send(text: string): void;
  /** Closes the connection with a reason for the peer. */
  end(reason: string): void;
  /** Calls it when the answer to the request is under way. */
  afterAnswer(action: () => void): void;
  /** Calls it when the connection is gone. */
  onClose(action: () => void): void;
};
