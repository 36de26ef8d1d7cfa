"""What goes back and forth between this service and the Hub: the inbox, references, published boards."""
