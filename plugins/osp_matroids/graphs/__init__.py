"""Graphic matroids: spanning trees and forests."""
